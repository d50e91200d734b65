"""Reads recorded traffic of an APNs connection with decoders that share nothing with Clarion: hyperframe, hpack and h2.

Usage: decode.py FILE. The file holds pieces in the order in which a tunnel saw them: one byte c or s for who spoke, four bytes
of length, the bytes. Prints one JSON object: requests, answers, frames, violations.
"""
import json
import struct
import sys

import h2.config
import h2.connection
import h2.events
import h2.settings
import hpack
import hyperframe.frame as hf

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


class Side:
    """One direction: cuts frames and decodes header blocks."""

    def __init__(self, name):
        self.name = name
        self.data = b""
        self.decoder = hpack.Decoder()
        self.has_preface = name == "s"

    def feed(self, data):
        self.data += data
        if not self.has_preface:
            if len(self.data) < len(PREFACE):
                return
            assert self.data.startswith(PREFACE), "no preface"
            self.data = self.data[len(PREFACE):]
            self.has_preface = True
        while len(self.data) >= 9:
            frame, length = hf.Frame.parse_frame_header(memoryview(self.data[:9]))
            if len(self.data) < 9 + length:
                return
            frame.parse_body(memoryview(self.data[9:9 + length]))
            self.data = self.data[9 + length:]
            yield frame, length


class Account:
    """The windows of the server, as RFC 9113 counts them, and everything that was said."""

    def __init__(self):
        self.requests, self.answers, self.frames, self.violations = {}, {}, [], []
        self.window, self.initial, self.streams = 65535, 65535, {}
        self.limit, self.open = None, set()

    def client(self, frame, length, side):
        if isinstance(frame, hf.HeadersFrame):
            fields = side.decoder.decode(frame.data, raw=False)
            self.requests[frame.stream_id] = {
                "stream": frame.stream_id, "fields": [list(field) for field in fields], "block": len(frame.data), "body": 0,
                "answersBefore": len(self.answers), "isComplete": "END_STREAM" in frame.flags}
            self.streams[frame.stream_id] = self.initial
            self.open.add(frame.stream_id)
            if "END_HEADERS" not in frame.flags:
                self.violations.append("a header block in pieces")
            if self.limit is None:
                self.violations.append("a request before the first settings")
        elif isinstance(frame, hf.DataFrame):
            self.window -= frame.flow_controlled_length
            self.streams[frame.stream_id] -= frame.flow_controlled_length
            if self.window < 0 or self.streams[frame.stream_id] < 0:
                self.violations.append(f"stream {frame.stream_id} sent beyond its window")
            self.requests[frame.stream_id]["body"] += len(frame.data)
            if "END_STREAM" in frame.flags:
                self.requests[frame.stream_id]["isComplete"] = True

    def server(self, frame, length, side):
        if isinstance(frame, hf.SettingsFrame) and "ACK" not in frame.flags:
            self.limit = frame.settings.get(hf.SettingsFrame.MAX_CONCURRENT_STREAMS, self.limit or 2**31)
            initial = frame.settings.get(hf.SettingsFrame.INITIAL_WINDOW_SIZE, self.initial)
            for stream in self.streams:
                self.streams[stream] += initial - self.initial
            self.initial = initial
        elif isinstance(frame, hf.WindowUpdateFrame):
            if frame.stream_id == 0:
                self.window += frame.window_increment
            elif frame.stream_id in self.streams:
                self.streams[frame.stream_id] += frame.window_increment
        elif isinstance(frame, hf.HeadersFrame):
            fields = side.decoder.decode(frame.data, raw=False)
            if frame.stream_id not in self.open:
                self.violations.append(f"an answer to stream {frame.stream_id}, which is not open")
            self.answers[frame.stream_id] = {
                "stream": frame.stream_id, "fields": [list(field) for field in fields],
                "isComplete": "END_STREAM" in frame.flags}
        elif isinstance(frame, hf.DataFrame) and "END_STREAM" in frame.flags:
            self.answers[frame.stream_id]["isComplete"] = True


def check_with_h2(pieces):
    """What the client says must be legal to h2's own state machine."""
    connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
    # Limits and windows are accounted for above, with the server's real ones; here only the order of frames counts.
    connection.local_settings = h2.settings.Settings(client=False, initial_values={
        h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: 10**6, h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 2**30})
    connection.initiate_connection()
    connection.increment_flow_control_window(2**30)
    for who, data in pieces:
        if who != "c":
            continue
        for event in connection.receive_data(data):
            if isinstance(event, h2.events.StreamEnded):
                connection.send_headers(event.stream_id, [(":status", "200")], end_stream=True)


def main():
    recording = open(sys.argv[1], "rb").read()
    pieces, place = [], 0
    while place < len(recording):
        who, length = struct.unpack_from(">cI", recording, place)
        pieces.append((who.decode(), recording[place + 5:place + 5 + length]))
        place += 5 + length
    account, sides = Account(), {"c": Side("c"), "s": Side("s")}
    for who, data in pieces:
        for frame, length in sides[who].feed(data):
            account.frames.append([who, type(frame).__name__.removesuffix("Frame"), frame.stream_id, length])
            (account.client if who == "c" else account.server)(frame, length, sides[who])
    try:
        check_with_h2(pieces)
    except Exception as error:
        account.violations.append(f"h2: {error!r}")
    print(json.dumps({
        "requests": list(account.requests.values()), "answers": list(account.answers.values()), "frames": [
            {"side": side, "kind": kind, "stream": stream, "length": length} for side, kind, stream, length in account.frames],
        "violations": account.violations}))


main()
