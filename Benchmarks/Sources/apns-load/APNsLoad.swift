import Foundation
import NIOPosix

/// `apns-load --port N --certificate FILE [--mode batch|loop|pool|rate|list|fcm] [--loops N] …` sends pushes to a sink and prints what it took as one line of JSON.
@main
enum APNsLoad {
    static func main() async throws {
        do {
            let options = try LoadOptions(Array(CommandLine.arguments.dropFirst()))
            let group = MultiThreadedEventLoopGroup(numberOfThreads: options.loops)
            let result =
                options.mode == .fcm
                ? try await FCMLoad(options, group: group).run() : try await Load(options, group: group).run()
            print(result.line)
            if result.accepted != result.sent { exit(1) }
        } catch let fault as LoadFault {
            FileHandle.standardError.write(Data("apns-load: \(fault)\n".utf8))
            exit(64)
        }
    }
}
