import ServerSettings
import ServerStorage
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension Doctor {
    static func dataDirectoryCheck(_ settings: Settings) -> DoctorCheck {
        DoctorCheck("data directory") {
            let path = settings.dataDirectory
            var isDirectory = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
                let parent = nearestExisting(path)
                if let reason = refusal(in: parent) {
                    return .bad(
                        "\(path) is missing, and nothing can be made in \(parent): \(reason)",
                        mend: "name another data-directory, or mkdir -p \(path) and chown it to the server's user")
                }
                return .good("\(path) will be made at the first start")
            }
            guard isDirectory else { return .bad("\(path) is a file", mend: "name a folder in data-directory") }
            if let reason = refusal(in: path) {
                return .bad("\(path) cannot be written: \(reason)", mend: "chown it to the server's user, or mend the disk")
            }
            return .good(path)
        }
    }

    /// Tries it: permission bits say nothing of read-only disks, quotas, or folders that are none.
    private static func refusal(in directory: String) -> String? {
        let trial = directory + "/.clarion-doctor-" + UUID().uuidString
        guard mkdir(trial, 0o700) == 0, rmdir(trial) == 0 else { return SystemErrorText.text(errno) }
        return nil
    }

    /// A quarter of a million records and their telemetry fit into this; content comes on top.
    private static let leastFreeSpace: Int64 = 1_000_000_000

    static func diskCheck(_ settings: Settings) -> DoctorCheck {
        DoctorCheck("disk") {
            let path = nearestExisting(settings.dataDirectory)
            guard let free = DiskSpace.free(at: path) else {
                return .notice("the free space of \(path) cannot be found", mend: "df -h \(path)")
            }
            let megabytes = "\(free / 1_000_000) MB free"
            return free < leastFreeSpace
                ? .notice(megabytes, mend: "make room, or name another data-directory") : .good(megabytes)
        }
    }

    private static func nearestExisting(_ path: String) -> String {
        var path = path
        while path != "/", path != ".", !FileManager.default.fileExists(atPath: path) { path = parent(of: path) }
        return path
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
