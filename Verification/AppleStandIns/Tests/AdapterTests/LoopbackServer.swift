import Foundation
import Glibc

/// A server for one kind of answer on this machine, on a port that the system chooses, for the real `URLSession`.
final class LoopbackServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let heard = Locked<[String]>([])

    /// The heads of the requests.
    var requests: [String] { heard.with { $0 } }

    init(answer: @escaping @Sendable (_ head: String) -> Data) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port: UInt16? = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { socketAddress in
                guard bind(listener, socketAddress, length) == 0, listen(listener, 16) == 0,
                    getsockname(listener, socketAddress, &length) == 0
                else { return nil }
                return 0
            }
        }
        guard port != nil else { throw CocoaError(.fileReadUnknown) }
        self.port = UInt16(bigEndian: address.sin_port)
        let heard = heard
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                Thread.detachNewThread { Self.serve(connection, heard, answer) }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private static func serve(_ connection: Int32, _ heard: Locked<[String]>, _ answer: (String) -> Data) {
        defer { close(connection) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while !String(decoding: bytes, as: UTF8.self).contains("\r\n\r\n") {
            let count = read(connection, &piece, piece.count)
            guard count > 0 else { return }
            bytes += piece[..<count]
        }
        let head = String(decoding: bytes, as: UTF8.self)
        heard.with { $0.append(head) }
        let data = answer(head)
        data.withUnsafeBytes { buffer in
            var sent = 0
            while sent < buffer.count {
                let count = send(connection, buffer.baseAddress! + sent, buffer.count - sent, Int32(MSG_NOSIGNAL))
                guard count > 0 else { return }
                sent += count
            }
        }
    }

    static func response(_ status: String, headers: [String] = [], body: Data = Data()) -> Data {
        let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.count)", "Connection: close"] + headers
        return Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }

    func url(_ path: String) -> URL { URL(string: "http://127.0.0.1:\(port)\(path)")! }
}
