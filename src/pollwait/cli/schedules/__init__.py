"""``pollwait plan``, ``fit`` and ``simulate``: what schedules do, and which suits measured times.

They share what they are asked (``options``, ``scenario``, ``quantiles``), what they read
(``samples``) and what they show: ``timetable`` and ``tables`` in figures, ``picture`` in the
terminal, ``bar`` while it lasts. ``plot`` draws into files, with a room for each command's own.
"""
