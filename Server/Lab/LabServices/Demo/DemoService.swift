import APNsEmulation
import DeviceSimulation
import Logging
import NIOPosix
import RichPushModel
import ServerComposition
import ServerSettings
import ServiceErrors
import ServiceLifecycle
import SimulatedPhonePage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How `clarion demo` runs.
public struct DemoOptions: Hashable, Sendable {
    /// The port asked for; absent means 8080, or any free one when that is taken.
    public var port: Int?
    /// Where the demo keeps its state; removing the folder starts it afresh.
    public var directory: String
    /// Whether the state of an earlier demo is removed first.
    public var startsAfresh: Bool

    /// Creates options.
    public init(port: Int?, directory: String, startsAfresh: Bool) {
        self.port = port
        self.directory = directory
        self.startsAfresh = startsAfresh
    }
}

/// Everything in one process: a node, a local APNs and simulated iPhones. Listens on loopback only.
public enum DemoService {
    /// Runs until the process is told to stop. `announce` gets the lines for the terminal once the page answers.
    public static func run(_ options: DemoOptions, announce: @escaping @Sendable (String) -> Void) async throws {
        let logger = Observability.start(Settings.Logging(level: .warning, format: .text))
        try DemoFolder.prepare(options)
        let demo = try await Demo.make(
            directory: options.directory, port: try await DemoPort.choose(options.port), logger: logger)
        let demoService = ClosureService {
            try await demo.run { port in
                announce("")
                announce("  Open  http://127.0.0.1:\(port)/phone")
                announce("")
                announce(
                    "  Press Clarion's icon there and sign in with any name; the password is the name. Then press Send push.")
                announce("  Server, hub, APNs client and phone are the real ones; Apple and iOS are simulated on this machine.")
                announce("  State is kept in \(options.directory). Stop with Control-C.")
            }
        }
        try await ProcessServices.run([demoService], deadline: .seconds(5), logger: logger)
    }
}
