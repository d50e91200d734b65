import Foundation
import ServiceErrors

/// The name of a node in its leases: the same after a restart, so that it can take its own leases back at once.
///
/// It is kept in the data directory, and a lock beside it proves that no other process of this machine uses it. A second process in
/// one data directory gets a name for its own life only.
package final class NodeIdentity: Sendable {
    /// Host and a number by chance.
    package let name: String
    /// Whether leases of this name can only be those of a process that is dead.
    package let isLasting: Bool
    private let lock: Int32

    /// Takes the name of a data directory. Throws when it cannot be written.
    init(dataDirectory: String) throws {
        let host = Self.host
        lock = open(dataDirectory + "/node-id", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw ServiceError(.storageUnavailable, "\(dataDirectory)/node-id cannot be written") }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            isLasting = false
            name = "\(host)/\(Self.chance())"
            return
        }
        isLasting = true
        let kept = Self.read(lock)
        let number = kept ?? Self.chance()
        if kept == nil { try Self.keep(number, lock, dataDirectory) }
        name = "\(host)/\(number)"
    }

    deinit {
        // A program that is being started at this moment may have the file open for an instant longer.
        if isLasting { flock(lock, LOCK_UN) }
        close(lock)
    }

    private static var host: String {
        let name = ProcessInfo.processInfo.hostName.filter {
            $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == ".")
        }
        return String(name.prefix(64))
    }

    /// 16 hexadecimal digits by chance.
    static func chance() -> String {
        let text = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    /// What a start before wrote; `nil` for anything else.
    private static func read(_ file: Int32) -> String? {
        var bytes = [UInt8](repeating: 0, count: 17)
        guard pread(file, &bytes, bytes.count, 0) == 16 else { return nil }
        let text = String(decoding: bytes.prefix(16), as: UTF8.self)
        return text.allSatisfy(\.isHexDigit) ? text : nil
    }

    private static func keep(_ number: String, _ file: Int32, _ dataDirectory: String) throws {
        let bytes = Array(number.utf8)
        guard ftruncate(file, 0) == 0, pwrite(file, bytes, bytes.count, 0) == bytes.count, fsync(file) == 0 else {
            throw ServiceError(.storageUnavailable, "\(dataDirectory)/node-id cannot be written")
        }
    }
}
