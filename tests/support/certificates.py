"""Certificates for a test, made by openssl when it runs: an authority, a server, clients. As a program
`certificates.py FOLDER CLIENT` makes them, and the client's key with a password, locked.key."""

import os
import subprocess
import sys


def openssl(*words, text=None):
    subprocess.run(["openssl", *words], check=True, input=text, capture_output=True)


class Certificates:
    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-subj", "/CN=the authority", "-days", "2", "-keyout", self.path("ca.key"), "-out",
                self.path("ca.crt"))
        self.make("server", "weir", names="DNS:localhost,IP:127.0.0.1")

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, name, common_name, names=None, algorithm=("ec", "ec_paramgen_curve:P-256")):
        """Writes name.crt and name.key; answers both paths."""
        key, request, certificate = (self.path(name + end) for end in (".key", ".csr", ".crt"))
        extensions = ["-addext", f"subjectAltName={names}"] if names else []
        openssl("req", "-newkey", algorithm[0], "-pkeyopt", algorithm[1], "-nodes", "-subj",
                "/CN=" + common_name, *extensions, "-keyout", key, "-out", request)
        openssl("x509", "-req", "-in", request, "-CA", self.path("ca.crt"), "-CAkey",
                self.path("ca.key"), "-CAcreateserial", "-days", "2", "-copy_extensions", "copy",
                "-out", certificate)
        return certificate, key

    def options(self, name="server", **more):
        """Of a server that asks for no certificate, if `more` says nothing else."""
        return {"tls_cert_file": self.path(name + ".crt"), "tls_key_file": self.path(name + ".key"),
                "tls_ca_cert_file": self.path("ca.crt"), "tls_auth_clients": "no", **more}


if __name__ == "__main__":
    made = Certificates(sys.argv[1])
    _, client_key = made.make(sys.argv[2], sys.argv[2])
    openssl("pkey", "-aes128", "-passout", "pass:secret", "-in", client_key, "-out", made.path("locked.key"))
