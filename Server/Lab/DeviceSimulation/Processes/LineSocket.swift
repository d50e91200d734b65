import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A socket that one thread reads and many tasks write. The descriptor is closed by the reader alone, under the lock that writers
/// hold: nobody writes to a number that became somebody else's.
final class LineSocket: Sendable {
    /// How long a write may wait for a reader that does not read.
    private static let writeSeconds = 5

    private let descriptor: Mutex<CInt?>
    /// For reading, until the reader closes it.
    private let number: CInt

    init(_ descriptor: CInt) {
        number = descriptor
        self.descriptor = Mutex(descriptor)
        var limit = timeval(tv_sec: Self.writeSeconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Whether all of it was written.
    func write(_ data: Data) -> Bool {
        descriptor.withLock { descriptor in
            guard let descriptor else { return false }
            return data.withUnsafeBytes { bytes in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let count = Self.send(descriptor, UnsafeRawBufferPointer(rebasing: rest))
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { return false }
                    rest = rest.dropFirst(count)
                }
                return true
            }
        }
    }

    func finishWriting() {
        descriptor.withLock { descriptor in
            if let descriptor { _ = shutdown(descriptor, CInt(SHUT_WR)) }
        }
    }

    /// Reads until the other end is closed or `take` wants no more, and closes the socket. Blocks its thread.
    func readLines(limit: Int, _ take: (Data) -> Bool) {
        defer { end() }
        var waiting = Data()
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = recv(number, &piece, piece.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            var start = 0
            for index in 0..<count where piece[index] == UInt8(ascii: "\n") {
                guard take(waiting + Data(piece[start..<index])) else { return }
                waiting = Data()
                start = index + 1
            }
            waiting.append(contentsOf: piece[start..<count])
            guard waiting.count <= limit else { return }
        }
    }

    private func end() {
        descriptor.withLock { descriptor in
            guard descriptor != nil else { return }
            descriptor = nil
            #if canImport(Darwin)
                _ = Darwin.close(number)
            #elseif canImport(Musl)
                _ = Musl.close(number)
            #else
                _ = Glibc.close(number)
            #endif
        }
    }

    /// A reader that is gone is an error here, not a signal that ends the program.
    private static func send(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
            Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
        #elseif canImport(Musl)
            Musl.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
        #else
            Glibc.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
        #endif
    }
}
