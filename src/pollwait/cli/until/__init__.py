"""``pollwait until``: a command, run until it succeeds.

``command`` reads the options and polls. ``child`` is one run after the other, ``signals`` what
reaches the process meanwhile, ``tail`` the output that is kept, and ``report`` what is shown.
"""
