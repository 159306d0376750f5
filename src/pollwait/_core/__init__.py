"""What pollwait decides: pure, so that the drivers on threads and on event loops can share it.

Nothing here sleeps, reads a clock, starts anything or does input and output. By subject:

- when to look: ``schedule`` (the public value), made of ``rules``, ``leaves`` and ``combined``;
  ``notation`` reads one from text;
- one wait: ``wait`` (the machine), with its ``settings``, ``history`` and ``failure`` (the error at
  its end); ``try_again`` and ``retry_after`` for a server's own hints;
- one batch: ``window`` and ``merging`` (the machines of a batcher and of a coalescer) over ``line``
  and ``batch``, within ``limits``; ``round``, ``isolation`` and ``answer`` for its calls,
  ``nesting`` for calls that wait for calls, ``batched`` (its event) and ``refusals`` (its errors);
- many waits that share calls: ``group`` (the machine) with its ``group_settings``; ``room``,
  ``agenda`` and ``pace`` say who is asked and when, ``seat`` is a wait in it, ``ticket`` a caller,
  ``call`` one call and ``judge`` what its answers mean;
- when a group calls that knows how long things take: ``foresight``, over ``expected``, ``cohorts``
  and ``outlook``; ``no_foresight`` stands in for it where a group goes by its schedule;
- how long things take: ``samples`` (what was seen), ``distribution`` (what follows), ``estimate``
  (of the one from the other) and ``latency`` (a model that learns);
- the schedule for it: ``fit`` (the public face) over ``inspection`` (when to look), ``dense`` (the
  same for very many looks) and ``plan`` (how to say that as a schedule); ``evaluate`` says what any
  schedule costs, by ``steady`` where delays are equal;
- for all of them: ``duration``, ``callables``, ``value``, ``typed`` and ``generic``.
"""
