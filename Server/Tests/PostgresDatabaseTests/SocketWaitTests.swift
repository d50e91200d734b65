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

    @Test("who has waited for many bytes at once is woken by the first one again, or a short answer would lie there")
    func gathered() throws {
        // Connected to nothing, it ends every wait at once.
        let endpoint = socket(AF_INET, Self.stream, 0)
        try #require(endpoint >= 0)
        defer { close(endpoint) }
        #expect(SocketWait.gather(32_768, from: endpoint))
        #expect(mark(of: endpoint) == 1)
    }
}
