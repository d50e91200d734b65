import Foundation
import Synchronization

/// Ports for servers that begin to listen only seconds after they got their port.
enum QuietPort {
    /// Systems give none of these to outgoing connections or to sockets that ask for any port, so that none is taken meanwhile.
    private static let range = 10_000..<20_000

    /// Two callers at once must not get the same port before either listens.
    private static let next = Atomic(Int.random(in: 0..<range.count))

    /// A port of 127.0.0.1 without a listener, which this process gives out once.
    static func choose() throws -> Int {
        for _ in 0..<100 {
            let port = range.lowerBound + next.wrappingAdd(1, ordering: .relaxed).oldValue % range.count
            if isFree(port) { return port }
        }
        throw ThrowAwayPostgreSQL.Failure(description: "no port of 127.0.0.1 is free")
    }

    private static func isFree(_ port: Int) -> Bool {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(number) }
        // As servers do: what a connection of before leaves behind does not count.
        var on: Int32 = 1
        setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
