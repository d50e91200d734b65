import Testing

@testable import PostgresDatabase

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

@Suite("Waiting for a socket")
struct SocketWaitTests {
    #if canImport(Darwin)
        private static let stream = SOCK_STREAM
    #elseif canImport(Musl)
        private static let stream = SOCK_STREAM
    #else
        private static let stream = Int32(SOCK_STREAM.rawValue)
    #endif

    private func mark(of socket: Int32) -> Int32? {
        var bytes: Int32 = -1
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &bytes, &size) == 0 ? bytes : nil
    }

    /// Both ends of a connection.
    private func connected() throws -> (near: Int32, far: Int32) {
        let listener = socket(AF_INET, Self.stream, 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let near = socket(AF_INET, Self.stream, 0)
        try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
                try #require(bind(listener, place, size) == 0 && listen(listener, 1) == 0)
                try #require(getsockname(listener, place, &size) == 0)
                try #require(connect(near, place, size) == 0)
            }
        }
        let far = accept(listener, nil, nil)
        try #require(far >= 0)
        return (near, far)
    }

    @Test(
        "who waits for many bytes is not woken by the first, and is by the next one afterwards, or a short answer would lie there"
    )
    func gathered() throws {
        let (near, far) = try connected()
        defer { [near, far].forEach { close($0) } }
        #expect(SocketWait.canGather(near))
        try #require(write(far, "x", 1) == 1)
        #expect(SocketWait.wait(for: near, toWrite: false, atMost: .seconds(60))?.canRead == true)
        #expect(!SocketWait.gather(32_768, from: near))
        #expect(mark(of: near) == 1)
        #expect(SocketWait.wait(for: near, toWrite: false, atMost: .seconds(60))?.canRead == true)
        let many = [UInt8](repeating: 0, count: 40_000)
        try #require(write(far, many, many.count) == many.count)
        // What was written may take a moment to be there.
        var isThere = false
        for _ in 0..<1_000 where !isThere { isThere = SocketWait.gather(32_768, from: near) }
        #expect(isThere)
        #expect(mark(of: near) == 1)
    }
}
