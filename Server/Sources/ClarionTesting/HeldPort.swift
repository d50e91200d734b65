import Foundation

/// A port of 127.0.0.1 that stays reserved while this exists, with a listener or without.
///
/// A socket is bound to it and never listens: the system gives the port to no socket that asks for any, a listener that reuses addresses
/// may be bound to it again and again, and while none is, connections are refused.
final class HeldPort: Sendable {
    /// Why there is none.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let number: Int
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let (socket, size) = (descriptor, socklen_t(MemoryLayout<sockaddr_in>.size))
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                var length = size
                return bind(socket, generic, size) == 0 ? getsockname(socket, generic, &length) : -1
            }
        }
        number = Int(UInt16(bigEndian: address.sin_port))
        guard status == 0 else {
            throw Failure(description: "no port of 127.0.0.1 can be held: \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }
}
