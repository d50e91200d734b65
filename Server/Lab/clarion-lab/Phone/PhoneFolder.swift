import ArgumentParser
import CommandLineSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The folder of a phone in a terminal, held by one process: two phones in one folder would be one phone with two users.
///
/// The lock ends with the process, however it ends.
final class PhoneFolder: Sendable {
    private static let lockName = "lock"

    private let lock: Int32

    /// Makes the folder if there is none, and takes it. Throws `InputFault` when another phone has it or it cannot be written.
    init(_ folder: URL) throws {
        let path = folder.path
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw InputFault("\(path) cannot be made", .cannotCreate)
        }
        let descriptor = open(path + "/" + Self.lockName, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw InputFault("\(path) cannot be written", .cannotCreate) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw InputFault(
                "\(path) is in use by another `clarion phone`; a second phone has another --device or --directory", .cannotCreate)
        }
        lock = descriptor
    }

    deinit {
        // A program that is being started at this moment may have the file open for an instant longer.
        flock(lock, LOCK_UN)
        close(lock)
    }
}
