import ArgumentParser
import CommandLineSupport
import FCMAdministration
import FCMEmulation
import LabServices
import LocalCertificates
import Logging
import NIOPosix
import RichPushModel
import ServiceLifecycle

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The local FCM of the emulator: its certificate, what it knew in the run before, and a key file for senders.
struct EmulatorFCM {
    private static let project = "clarion-demo"
    private static let googleNames = ["fcm", "oauth2", "iid", "www", "fcm.mtls"].map { "\($0).googleapis.com" }

    let host: String
    /// The folder of the emulator.
    let directory: String
    let isOpen: Bool
    /// Whether clients lead Google's names here.
    let standsInForGoogle: Bool

    /// Starts it and returns what keeps its state, and ends it when the emulator ends, with its administration.
    func start(on port: Int, _ authority: LocalCertificateAuthority, _ logger: Logger) async throws -> EmulatorCompanion {
        let names = ["localhost", "127.0.0.1", "::1", host] + (standsInForGoogle ? Self.googleNames : [])
        let leaf = try authority.issueServerCertificate(
            names: names.enumerated().filter { names.firstIndex(of: $1) == $0 }.map(\.element), subject: "Clarion local FCM",
            now: SystemClock().now)
        var settings = LocalFCMSettings(
            identity: .init(
                certificatePEM: leaf.certificatePEM + "\n" + authority.certificatePEM, privateKeyPEM: leaf.privateKeyPEM),
            host: host, port: port)
        (settings.allowsRemoteClients, settings.standsInForGoogle) = (isOpen, standsInForGoogle)
        let fcm = LocalFCM(settings: settings, clock: .system, group: .singletonMultiThreadedEventLoopGroup, logger: logger)
        let memory = try EmulatorMemory(of: fcm, at: statePath, clock: .system, logger: logger)
        let isNew = !FileManager.default.fileExists(atPath: statePath)
        let routes: FCMAdministrationRoutes
        do {
            let address = try await fcm.start()
            try fcm.addProject(Self.project)
            let place = "https://\(address.host):\(address.port)"
            try writeKey(of: fcm, at: place, isNew: isNew)
            Terminal.say("Local FCM (not Google's) on \(place)")
            Terminal.say("  sign     \(keyPath), project \(Self.project)")
            routes = FCMAdministrationRoutes(
                fcm: fcm,
                place: FCMSenderPlace(
                    origin: place, keyPath: Self.whole(keyPath), authorityPath: Self.whole(directory + "/authority.pem"),
                    standsInForGoogle: standsInForGoogle))
        } catch let error as LocalFCMError { throw ValidationError("--fcm-port: \(error)") }
        return EmulatorCompanion(Running(fcm: fcm, memory: memory), page: "/fcm") { routes.addRoutes(to: $0) }
    }

    /// A path that means the same in every folder.
    private static func whole(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }

    private var statePath: String { directory + "/fcm.json" }
    private var keyPath: String { directory + "/fcm-service-account.json" }

    /// The file of an earlier run is still good, unless its key is not known any more or it leads to another place.
    private func writeKey(of fcm: LocalFCM, at place: String, isNew: Bool) throws {
        let file = FileManager.default.contents(atPath: keyPath).map { String(decoding: $0, as: UTF8.self) }
        if !isNew, let file, file.contains(standsInForGoogle ? "oauth2.googleapis.com" : "\"\(place)/") { return }
        let key = try fcm.makeKey(project: Self.project)
        let isWritten = FileManager.default.createFile(
            atPath: keyPath, contents: Data(key.utf8), attributes: [.posixPermissions: 0o600])
        guard isWritten else { throw ValidationError("\(keyPath) cannot be written") }
    }

    private struct Running: Service {
        let fcm: LocalFCM
        let memory: EmulatorMemory<LocalFCM>

        func run() async throws {
            try await memory.run()
            await fcm.shutdown()
        }
    }
}

extension LocalFCM: KeptService {}
