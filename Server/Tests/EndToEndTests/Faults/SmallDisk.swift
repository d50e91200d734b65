import ClarionTesting
import Foundation

/// A disk of a few MiB that one process alone sees: a file system in memory, mounted over a folder in a mount namespace of the
/// process's own. It goes with the process.
enum SmallDisk {
    /// Whether this machine lets a test do so.
    static func isPossible() async -> Bool {
        #if os(Linux)
            let output = NSTemporaryDirectory() + "small-disk-\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: output) }
            let command = ChildProcess.Command(
                "/usr/bin/env", unshare + ["sh", "-c", "mount -t tmpfs -o size=1m none /mnt"], output: output)
            return await (try? ChildProcess(command))?.exitStatus() == 0
        #else
            return false
        #endif
    }

    /// The command with such a disk over the folder, which begins with what lies in the folder.
    static func command(_ words: [String], over folder: String, mebibytes: Int, output: String) -> ChildProcess.Command {
        let script = """
            cp -a "$0" "$0.before" && mount -t tmpfs -o size=\(mebibytes)m,mode=0700 none "$0" && cp -a "$0.before/." "$0/" && exec "$@"
            """
        return ChildProcess.Command("/usr/bin/env", unshare + ["sh", "-c", script, folder] + words, output: output)
    }

    /// Writes a file until there is no room left.
    static func fill(_ path: String) throws {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        defer { try? file.close() }
        for size in [1 << 20, 4_096, 64] {
            let chunk = Data(repeating: 7, count: size)
            while (try? file.write(contentsOf: chunk)) != nil {}
        }
    }

    private static let unshare = getuid() == 0 ? ["unshare", "--mount"] : ["unshare", "--user", "--map-root-user", "--mount"]
}
