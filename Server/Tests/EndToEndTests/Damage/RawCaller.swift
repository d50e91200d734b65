import Foundation

/// Sends bytes as they are over HTTP/1.1, on one connection as long as the server keeps it.
///
/// Its calls block, so they run on a queue of its own; one after the other.
final class RawCaller: WireCaller {
    struct Dropped: Error, CustomStringConvertible {
        let description: String
    }

    private let port: UInt16
    private let queue = DispatchQueue(label: "caller")
    private let connection = Connection()

    /// The socket. `@unchecked` is safe: it is used on the serial queue only.
    private final class Connection: @unchecked Sendable {
        var socket: Int32 = -1
        var rest: [UInt8] = []

        deinit { if socket >= 0 { close(socket) } }
    }

    init(port: Int) { self.port = UInt16(port) }

    func exchange(_ request: WireRequest) async throws -> WireAnswer {
        let bytes = request.bytes(host: "127.0.0.1:\(port)")
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in continuation.resume(with: Result { try exchange(bytes) }) }
        }
    }

    private func exchange(_ bytes: [UInt8]) throws -> WireAnswer {
        if connection.socket < 0 { try open() }
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(connection.socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            // The server may have answered and closed before it had all: the answer is still to be read.
            guard count > 0 else { break }
            sent += count
        }
        let answer = try read()
        if answer.closes { hangUp() }
        return answer
    }

    private func open() throws {
        connection.socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(connection.socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(connection.socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(connection.socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw Dropped(description: "no connection, errno \(errno)") }
    }

    private func hangUp() {
        close(connection.socket)
        connection.socket = -1
        connection.rest = []
    }

    private func read() throws -> WireAnswer {
        var head: [UInt8] = []
        while true {
            if let end = Self.end(of: head + connection.rest) {
                let all = head + connection.rest
                connection.rest = Array(all[end...])
                var answer = try Self.head(String(decoding: all[..<end], as: UTF8.self))
                // An interim answer is followed by another.
                if (100..<200).contains(answer.status) { return try read() }
                answer.body = try body(of: answer)
                return answer
            }
            head += connection.rest
            connection.rest = try receive()
        }
    }

    private func receive() throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = recv(connection.socket, &buffer, buffer.count, 0)
        guard count > 0 else {
            let reason = count == 0 ? "closed" : "errno \(errno)"
            hangUp()
            throw Dropped(description: "the connection was \(reason) where an answer was due")
        }
        return Array(buffer[..<count])
    }

    private func body(of answer: WireAnswer) throws -> [UInt8] {
        if answer.status == 204 || answer.status == 304 { return [] }
        guard answer.headers["transfer-encoding"] != "chunked" else { return try chunks() }
        let length = Int(answer.headers["content-length"] ?? "0") ?? 0
        return try take(length)
    }

    private func chunks() throws -> [UInt8] {
        var body: [UInt8] = []
        while true {
            var line: [UInt8] = []
            while !line.reversed().starts(with: [10, 13]) { line += try take(1) }
            guard let size = Int(String(decoding: line.dropLast(2), as: UTF8.self), radix: 16) else {
                throw Dropped(description: "a chunk without a size")
            }
            body += try take(size + 2).dropLast(2)
            if size == 0 { return body }
        }
    }

    private func take(_ count: Int) throws -> [UInt8] {
        while connection.rest.count < count { connection.rest += try receive() }
        let taken = Array(connection.rest.prefix(count))
        connection.rest.removeFirst(count)
        return taken
    }

    private static func end(of bytes: [UInt8]) -> Int? {
        bytes.count < 4
            ? nil : (0...(bytes.count - 4)).first { bytes[$0..<($0 + 4)].elementsEqual([13, 10, 13, 10]) }.map { $0 + 4 }
    }

    private static func head(_ text: String) throws -> WireAnswer {
        let lines = text.split(separator: "\r\n")
        guard let first = lines.first?.split(separator: " "), first.count >= 2, first[0].hasPrefix("HTTP/1."),
            let status = Int(first[1])
        else { throw Dropped(description: "no status line: \(text.prefix(80))") }
        var answer = WireAnswer(status: status)
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            answer.headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
        }
        return answer
    }
}
