"""Reads recorded traffic of APNs connections with decoders that share nothing with Clarion: hyperframe, hpack and h2.

Usage: decode.py FILE. The file holds pieces in the order in which a tunnel saw them: two bytes for the number of the connection,
one byte c or s for who spoke, four bytes of length, the bytes. Prints one JSON object: for each connection its requests, answers,
frames, what the frames of control said, and violations.
"""
import json
import struct
import sys

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import h2.settings
import hpack
import hyperframe.frame as hf

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
UNLIMITED = 2**31


class Side:
    """One direction: cuts frames."""

    def __init__(self, name):
        self.name = name
        self.data = b""
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
            raw, self.data = self.data[:9 + length], self.data[9 + length:]
            frame.parse_body(memoryview(raw[9:]))
            yield frame, length, raw


class Account:
    """Limits and windows of the server, as RFC 9113 counts them, and everything that was said."""

    def __init__(self):
        self.requests, self.answers, self.frames, self.violations = {}, {}, [], []
        self.settings, self.go_aways, self.resets, self.pings, self.credits = [], [], [], [], []
        self.decoders = {"c": hpack.Decoder(), "s": hpack.Decoder()}
        # A value of the server holds for the client from its acknowledgement on (RFC 9113, 6.5.3).
        self.announced, self.unacknowledged, self.limit = (UNLIMITED, 65535), [], None
        self.window, self.initial, self.windows = 65535, 65535, {}
        # Streams that are not closed, with who has ended its half.
        self.open, self.most_open, self.highest, self.last = {}, 0, 0, UNLIMITED

    def take(self, who, frame, length):
        self.frames.append({"side": who, "kind": type(frame).__name__.removesuffix("Frame"), "stream": frame.stream_id,
                            "length": length})
        kinds = {hf.HeadersFrame: self.headers, hf.DataFrame: self.data, hf.SettingsFrame: self.take_settings,
                 hf.WindowUpdateFrame: self.credit, hf.RstStreamFrame: self.reset, hf.GoAwayFrame: self.go_away,
                 hf.PingFrame: self.ping}
        handler = kinds.get(type(frame))
        if handler:
            handler(who, frame)
        if "END_STREAM" in frame.flags:
            self.end(who, frame.stream_id)

    def end(self, who, stream):
        if stream in self.open:
            self.open[stream].add(who)
            if len(self.open[stream]) == 2:
                del self.open[stream]

    def headers(self, who, frame):
        fields = [list(field) for field in self.decoders[who].decode(frame.data, raw=False)]
        message = {"stream": frame.stream_id, "fields": fields, "isComplete": "END_STREAM" in frame.flags}
        if "END_HEADERS" not in frame.flags:
            self.violations.append("a header block in pieces")
        if who == "s":
            if frame.stream_id not in self.open:
                self.violations.append(f"an answer to stream {frame.stream_id}, which is not open")
            if frame.stream_id > self.last:
                self.violations.append(f"an answer to stream {frame.stream_id} above the last of GOAWAY, {self.last}")
            self.answers[frame.stream_id] = message
            return
        if frame.stream_id <= self.highest or frame.stream_id % 2 == 0:
            self.violations.append(f"stream {frame.stream_id} after stream {self.highest}")
        self.highest = max(self.highest, frame.stream_id)
        self.requests[frame.stream_id] = message | {
            "block": len(frame.data), "body": 0, "answersBefore": len(self.answers)}
        self.windows[frame.stream_id] = self.initial
        self.open[frame.stream_id] = set()
        self.most_open = max(self.most_open, len(self.open))
        if self.limit is None:
            self.violations.append("a request before the first settings")
        elif len(self.open) > self.limit:
            self.violations.append(f"stream {frame.stream_id} makes {len(self.open)} open ones, {self.limit} are allowed")

    def data(self, who, frame):
        if who == "s":
            if "END_STREAM" in frame.flags and frame.stream_id in self.answers:
                self.answers[frame.stream_id]["isComplete"] = True
            return
        self.window -= frame.flow_controlled_length
        self.windows[frame.stream_id] -= frame.flow_controlled_length
        if self.window < 0 or self.windows[frame.stream_id] < 0:
            self.violations.append(f"stream {frame.stream_id} sent beyond its window")
        self.requests[frame.stream_id]["body"] += len(frame.data)
        if "END_STREAM" in frame.flags:
            self.requests[frame.stream_id]["isComplete"] = True

    def take_settings(self, who, frame):
        is_acknowledgement = "ACK" in frame.flags
        self.settings.append({"side": who, "isAcknowledgement": is_acknowledgement,
                              "values": {str(key): value for key, value in frame.settings.items()}})
        if who == "s" and not is_acknowledgement:
            limit, initial = self.announced
            self.announced = (frame.settings.get(hf.SettingsFrame.MAX_CONCURRENT_STREAMS, limit),
                              frame.settings.get(hf.SettingsFrame.INITIAL_WINDOW_SIZE, initial))
            self.unacknowledged.append(self.announced)
        elif who == "c" and is_acknowledgement:
            if not self.unacknowledged:
                self.violations.append("an acknowledgement of no settings")
                return
            self.limit, initial = self.unacknowledged.pop(0)
            for stream in self.windows:
                self.windows[stream] += initial - self.initial
            self.initial = initial

    def credit(self, who, frame):
        self.credits.append({"side": who, "stream": frame.stream_id, "increment": frame.window_increment})
        if who == "s" and frame.stream_id == 0:
            self.window += frame.window_increment
        elif who == "s" and frame.stream_id in self.windows:
            self.windows[frame.stream_id] += frame.window_increment

    def reset(self, who, frame):
        self.resets.append({"side": who, "stream": frame.stream_id, "code": frame.error_code})
        if frame.stream_id > self.highest:
            self.violations.append(f"a reset of stream {frame.stream_id}, which was never open")
        self.open.pop(frame.stream_id, None)

    def go_away(self, who, frame):
        self.go_aways.append({"side": who, "last": frame.last_stream_id, "code": frame.error_code,
                              "debug": frame.additional_data.decode()})
        if who != "s":
            return
        if frame.last_stream_id > self.last:
            self.violations.append(f"GOAWAY raises its last stream from {self.last} to {frame.last_stream_id}")
        self.last = frame.last_stream_id

    def ping(self, who, frame):
        is_acknowledgement = "ACK" in frame.flags
        value = frame.opaque_data.hex()
        if is_acknowledgement:
            question = {"side": "c" if who == "s" else "s", "isAcknowledgement": False, "value": value}
            if question not in self.pings:
                self.violations.append("an answer to a PING that was not asked")
        self.pings.append({"side": who, "isAcknowledgement": is_acknowledgement, "value": value})

    def report(self):
        return {"requests": list(self.requests.values()), "answers": list(self.answers.values()), "frames": self.frames,
                "settings": self.settings, "goAways": self.go_aways, "resets": self.resets, "pings": self.pings,
                "credits": self.credits, "mostOpen": self.most_open, "violations": self.violations}


def check_client(pieces):
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


class Client(h2.connection.H2Connection):
    """Repeats what the client did. Whether it was allowed to is judged by the account."""

    open_outbound_streams = 0

    def repeat(self, frame, decoder):
        if isinstance(frame, hf.HeadersFrame):
            self.send_headers(frame.stream_id, decoder.decode(frame.data, raw=False), end_stream="END_STREAM" in frame.flags)
        elif isinstance(frame, hf.DataFrame):
            self.send_data(frame.stream_id, frame.data, end_stream="END_STREAM" in frame.flags)
        elif isinstance(frame, hf.RstStreamFrame):
            self.reset_stream(frame.stream_id, frame.error_code)
        elif isinstance(frame, hf.PingFrame) and "ACK" not in frame.flags:
            self.ping(frame.opaque_data)
        elif isinstance(frame, hf.WindowUpdateFrame):
            self.increment_flow_control_window(frame.window_increment, frame.stream_id or None)


def check_server(pieces):
    """What the server says must be legal to h2 as the client that made these requests."""
    connection = Client(h2.config.H2Configuration(client_side=True, header_encoding="utf-8"))
    connection.local_settings = h2.settings.Settings(client=True, initial_values={
        h2.settings.SettingCodes.ENABLE_PUSH: 0, h2.settings.SettingCodes.MAX_HEADER_LIST_SIZE: 16384})
    connection.initiate_connection()
    connection.clear_outbound_data_buffer()
    sides, decoder = {"c": Side("c"), "s": Side("s")}, hpack.Decoder()
    for who, data in pieces:
        for frame, _, raw in sides[who].feed(data):
            if who == "c":
                try:
                    connection.repeat(frame, decoder)
                except h2.exceptions.StreamClosedError:
                    pass  # It was on its way when the server ended the stream.
                connection.clear_outbound_data_buffer()
                continue
            connection.receive_data(raw)
            answer = Side("s")
            if any(isinstance(reply, hf.RstStreamFrame) for reply, _, _ in answer.feed(connection.data_to_send())):
                raise ValueError(f"{type(frame).__name__} on stream {frame.stream_id}, which was over")
            if isinstance(frame, hf.GoAwayFrame):
                # h2 takes it for the end; RFC 9113, 6.8, lets the open streams be answered.
                connection.state_machine.state = h2.connection.ConnectionState.CLIENT_OPEN


def read(path):
    """The pieces of each connection."""
    recording = open(path, "rb").read()
    connections, place = {}, 0
    while place < len(recording):
        number, who, length = struct.unpack_from(">HcI", recording, place)
        place += 7
        connections.setdefault(number, []).append((who.decode(), recording[place:place + length]))
        place += length
    return [connections[number] for number in sorted(connections)]


def judge(pieces):
    account, sides = Account(), {"c": Side("c"), "s": Side("s")}
    for who, data in pieces:
        for frame, length, _ in sides[who].feed(data):
            account.take(who, frame, length)
    for name, check in (("client", check_client), ("server", check_server)):
        try:
            check(pieces)
        except Exception as error:
            account.violations.append(f"h2 on the {name}: {error!r}")
    return account.report()


print(json.dumps({"connections": [judge(pieces) for pieces in read(sys.argv[1])]}))
