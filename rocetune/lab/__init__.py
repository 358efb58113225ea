"""Emulated devices on loopback: for rehearsal and tests, no proof about a real ASIC.

``device`` is the contract between the frame and an OS emulator, ``frame`` hosts one emulator per inventory
device, ``ssh`` and ``eapi`` are its sockets, ``control`` starts and stops it in the background, ``overlay``
tells the rest of the program where the emulated devices listen.
"""
