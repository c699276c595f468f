"""Rate limits by weir.

    from weir import Limiter

    limiter = Limiter("redis://127.0.0.1:7000", "100/1m BURST 20")
    verdict = limiter.take("user:42")
"""

from .calls import Reservation
from .connection import Weir, client_options
from .contexts import Hold, Lease
from .core.core import Away
from .limiter import Limiter
from .state import Change, State
from .together import take_all
from .verdict import Denied, LimitState, Verdict

__all__ = ["Away", "Change", "Denied", "Hold", "Lease", "LimitState", "Limiter", "Reservation", "State", "Verdict",
           "Weir", "client_options", "take_all"]
