"""Two owners of a keyspace, by redis-py's RedisCluster: calls pass through, and takes of keys of several slots."""

import asyncio
import os
import tempfile
import unittest

from redis.asyncio.cluster import RedisCluster as AsyncCluster
from redis.cluster import RedisCluster
from weir import Limiter, Weir, aio, take_all

from .timing import PATIENT_S
from .weirs import WeirServer, wait_until


class Cluster(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        topology = os.path.join(folder, "topology")
        self.owners = [WeirServer("--cluster-enabled", "yes", "--cluster-topology", topology) for _ in range(2)]
        with open(topology, "w", encoding="utf-8") as file:
            file.write("epoch 1\n")
            for owner, slots in zip(self.owners, ("0-8191", "8192-16383")):
                file.write(f"n{owner.port} 127.0.0.1:{owner.port} {slots}\n")
        for owner in self.owners:
            self.addCleanup(owner.__exit__)
            owner.__enter__()
        wait_until(lambda: all(b"cluster_state:ok" in owner.call("CLUSTER", "INFO") for owner in self.owners),
                   "the cluster serves")

    def test_threads(self):
        with RedisCluster(host="127.0.0.1", port=self.owners[0].port, socket_timeout=PATIENT_S) as client:
            limiter = Limiter(Weir(client=client, deadline=PATIENT_S), "FIXED 2/1h")
            keys = [f"k{number}" for number in range(20)]  # of both owners
            self.assertEqual({limiter.take(key).remaining for key in keys}, {1})
            few = Limiter(limiter.weir, "FIXED 1/1h")
            self.assertTrue(take_all([(limiter, "k1"), (few, "f1"), (few, "f2")]))
            denied = take_all([(limiter, "k2"), (limiter, "k3"), (few, "f2")])
            self.assertEqual((denied.allowed, denied.index), (False, 2))
            self.assertEqual([limiter.peek(key, 0).remaining for key in ("k1", "k2", "k3")], [0, 1, 1])
            self.assertTrue(take_all([(limiter, "{k4}"), (few, "{k4}few")]))  # one slot: one request
            with self.assertRaisesRegex(ValueError, "waits"):
                limiter.acquire("k5", 1)

    async def asyncSetUp(self):
        asyncio.get_running_loop().set_debug(False)  # it is slow, and says so on a busy machine

    async def test_asyncio(self):
        async with AsyncCluster(host="127.0.0.1", port=self.owners[0].port) as client:
            limiter = aio.Limiter(aio.Weir(client=client, deadline=PATIENT_S), "FIXED 2/1h")
            self.assertEqual({(await limiter.take(f"k{number}")).remaining for number in range(20)}, {1})
            self.assertTrue(await aio.take_all([(limiter, "k1"), (limiter, "k2"), (limiter, "k3")]))
            self.assertFalse(await aio.take_all([(limiter, "k4"), (limiter, "k5"), (limiter, "k1")]))
            self.assertEqual((await limiter.peek("k4", 0)).remaining, 1)

    def test_an_owner_dies(self):
        with RedisCluster(host="127.0.0.1", port=self.owners[0].port, socket_timeout=1, socket_connect_timeout=1) as client:
            limiter = Limiter(Weir(client=client, deadline=2), "FIXED 100/1h", processes=2)
            keys = [f"k{number}" for number in range(20)]
            for key in keys:
                limiter.take(key)
            self.owners[1].kill()
            self.assertIn("local", {limiter.take(key).source for key in keys})
            self.owners[0].kill()
            self.assertEqual({Limiter(limiter.weir, "FIXED 100/1h").take(key).source for key in keys[:2]}, {"local"})


if __name__ == "__main__":
    unittest.main()
