"""Disks that lose what was not synced, as a machine does whose power is cut.

A file system of its own in a file: shut down without its journal being written, it has when it is mounted
again what was forced to it, and of the rest at most what the kernel had written by itself.
"""

import fcntl
import os
import struct

import isolation

PROGRAMS = {"mkfs.ext4": "e2fsprogs", "losetup": "mount"}
SHUT_DOWN, WITHOUT_JOURNAL = 0x8004587D, 2  # EXT4_IOC_SHUTDOWN, EXT4_GOING_FLAGS_NOLOGFLUSH


class Disk:
    def __init__(self, folder, megabytes):
        self.folder = folder
        self.image = folder + ".disk"
        os.makedirs(folder)
        with open(self.image, "wb") as file:
            file.truncate(megabytes << 20)
        isolation.run("mkfs.ext4", "-q", "-E", "nodiscard,lazy_itable_init=0", self.image)
        self.mount()

    def mount(self):
        # The kernel writes nothing by itself for a minute.
        isolation.run("mount", "-o", "loop,noatime,commit=60", self.image, self.folder)

    def cut_power(self):
        """Nothing more reaches it."""
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.ioctl(folder, SHUT_DOWN, struct.pack("I", WITHOUT_JOURNAL))
        finally:
            os.close(folder)

    def power_up(self):
        """When nobody has a file of it open any more."""
        isolation.run("umount", self.folder)
        self.mount()
