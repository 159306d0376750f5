"""``pollwait aws``: any waiter of AWS from the shell.

``command`` runs it. ``invocation`` reads the words after it, with ``parameters`` for the options of
an operation, ``values`` for what is given to them and ``shorthand`` for how that may be written.
``catalogue`` knows what there is and ``overview`` shows it. ``connection`` makes the client,
``waiting`` waits with it, and ``progress`` says how that stands.
"""
