"""The eAPI socket of one emulated device: HTTPS POST /command-api, JSON-RPC runCmds, Basic authentication.

The contract was recorded from napalm's EOS driver and pyeapi: one TCP connection per request, error objects
with code, message and a data list, 401 for a wrong password. Emulation for rehearsal and tests.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import ssl
from base64 import b64decode
from collections.abc import Callable
from typing import Any

from aiohttp import web

from rocetune.lab.device import EapiError
from rocetune.lab.frame import Cut, Host


class EapiSocket:
    """Serves one device over HTTPS."""

    def __init__(self, host: Host, context: ssl.SSLContext, username: str, password: str) -> None:
        self._host, self._context = host, context
        self._secret = f"{username}:{password}".encode()
        self._open: set[asyncio.Transport] = set()
        self._runner: web.AppRunner | None = None

    async def start(self, address: str, port: int) -> int:
        """Listen; the port in use (``port`` 0 picks one)."""
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/command-api", self._handle)
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, address, port, ssl_context=self._context, reuse_address=True)
        await site.start()
        bound: int = self._runner.addresses[0][1]
        return bound

    async def stop(self) -> None:
        """Close the listener and what is open."""
        self.cut()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def cut(self) -> None:
        """Cut every open connection. Call it in the loop's thread."""
        for transport in tuple(self._open):
            transport.abort()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if not self._authorized(request.headers.get("Authorization", "")):
            answer = web.Response(
                status=401,
                text="Unable to authenticate user",
                headers={"WWW-Authenticate": 'Basic realm="COMMAND_API_AUTH"'},
            )
            answer.force_close()
            return answer
        transport = request.transport
        if transport is None:
            raise ConnectionResetError
        self._open.add(transport)
        try:
            reply = web.Response(
                text=json.dumps(await self._answer(await request.text())), content_type="application/json"
            )
        except Cut:
            transport.abort()
            reply = web.Response(status=500)
        finally:
            self._open.discard(transport)
        reply.force_close()
        return reply

    def _authorized(self, header: str) -> bool:
        kind, _, value = header.partition(" ")
        try:
            return kind.lower() == "basic" and hmac.compare_digest(b64decode(value), self._secret)
        except ValueError:
            return False

    async def _answer(self, body: str) -> dict[str, Any]:
        try:
            message = json.loads(body)
            params = message["params"]
            serial, method = message.get("id"), message["method"]
            cmds, fmt = params["cmds"], params.get("format", "json")
        except (ValueError, KeyError, TypeError, AttributeError):
            return _error(None, -32600, "Invalid request", [])
        if method != "runCmds" or not isinstance(cmds, list):
            return _error(serial, -32601, f"Method not found: {method}", [])
        call: Callable[[], list[Any]] = lambda: self._host.emulator.run_cmds(cmds, fmt)  # noqa: E731
        try:
            result = await self._host.request(lambda: json.dumps(cmds), call)
        except EapiError as error:
            return _error(serial, error.code, error.message, error.data)
        return {"jsonrpc": "2.0", "id": serial, "result": result}


def _error(serial: Any, code: int, message: str, data: list[Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": serial, "error": {"code": code, "message": message, "data": data}}
