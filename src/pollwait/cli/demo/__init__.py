"""``pollwait demo``: ``command`` runs it, ``race`` is the experiment, ``report`` what it found."""
