"""The same for asyncio.

    from weir.aio import Limiter

    limiter = Limiter("redis://127.0.0.1:7000", "100/1m BURST 20")
    verdict = await limiter.take("user:42")
"""

from .connection import Weir, client_options
from .contexts import Hold, Lease
from .limiter import Limiter, take_all

__all__ = ["Hold", "Lease", "Limiter", "Weir", "client_options", "take_all"]
