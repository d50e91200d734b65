#if canImport(Glibc)
    import Glibc
    private let streamType = Int32(SOCK_STREAM.rawValue)
#else
    import Darwin
    private let streamType = SOCK_STREAM
#endif

/// A minimal client that checks whether a server answers: a web client would cost more than what is measured.
enum LoopbackSocket {
    /// A port that was free a moment ago.
    static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, streamType, 0)
        defer { close(descriptor) }
        var address = address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) | getsockname(descriptor, $0, &length)
            }
        }
        guard result == 0 else { throw ServeBenchmark.Fault(description: "no port is free") }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Whether a GET of the path is answered with 200.
    static func answers(port: UInt16, path: String) -> Bool {
        answers(port: port, "GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", with: "HTTP/1.1 200")
    }

    /// Whether a PUT of the document is answered with 204.
    static func put(port: UInt16, path: String, json: String) -> Bool {
        let head = "PUT \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
        return answers(port: port, head + "Content-Length: \(json.utf8.count)\r\n\r\n" + json, with: "HTTP/1.1 204")
    }

    /// Whether a request is answered with what begins so.
    static func answers(port: UInt16, _ text: String, with beginning: String) -> Bool {
        let descriptor = socket(AF_INET, streamType, 0)
        defer { close(descriptor) }
        var address = address(port: port)
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard connected else { return false }
        let request = Array(text.utf8)
        guard send(descriptor, request, request.count, 0) == request.count else { return false }
        var answer = [UInt8](repeating: 0, count: 12)
        return recv(descriptor, &answer, answer.count, 0) == 12 && answer.starts(with: beginning.utf8)
    }

    /// Opens connections, begins a request on each and leaves it.
    static func abandon(_ count: Int, port: UInt16) {
        let beginning = Array("POST /api/v1/notifications HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n{\"mess".utf8)
        let descriptors = (0..<count).map { _ in
            let descriptor = socket(AF_INET, streamType, 0)
            var address = address(port: port)
            withUnsafePointer(to: &address) { pointer in
                _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            _ = send(descriptor, beginning, beginning.count, 0)
            return descriptor
        }
        usleep(200_000)
        for descriptor in descriptors { close(descriptor) }
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
