import FCMEmulation
import Foundation
import Logging
import NIOPosix
import RichPushModel

@testable import LabServices

/// A local FCM with one project, and what a server needs to send to it.
struct AndroidPlace {
    private static let project = "clarion-shop"

    let fcm: LocalFCM
    /// Where a server finds it. The server has no service account by that.
    let environment: [String: String]
    /// The key of a service account, as Firebase's console gives it.
    let keyFile: String

    /// Starts it, with a certificate in a folder. It keeps so many records.
    init(in folder: String, records: Int = 1_000) async throws {
        let now = SystemClock().now
        let emulator = try EmulatorFolder(path: folder + "/fcm", now: now)
        let leaf = try emulator.authority.issueServerCertificate(names: ["127.0.0.1"], subject: "test", now: now)
        var settings = LocalFCMSettings(
            identity: .init(
                certificatePEM: leaf.certificatePEM + "\n" + emulator.authority.certificatePEM, privateKeyPEM: leaf.privateKeyPEM)
        )
        settings.bounds.recorded = records
        fcm = LocalFCM(
            settings: settings, clock: .system, group: .singletonMultiThreadedEventLoopGroup,
            logger: Logger(label: "fcm") { _ in SwiftLogNoOpLogHandler() })
        let port = try await fcm.start().port
        try fcm.addProject(Self.project)
        keyFile = try fcm.makeKey(project: Self.project)
        environment = [
            "CLARION_FCM_HOST": "127.0.0.1", "CLARION_FCM_PORT": String(port),
            "CLARION_FCM_TRUST_ROOTS_PATH": emulator.authorityPath,
        ]
    }

    /// Installs the app on a phone that is switched on.
    func phone(_ name: String) throws -> SimulatedAndroid {
        try fcm.addDevice(name, project: Self.project, package: "org.example.app")
    }

    /// The messages that apps have got since the recorder was cleared, with their phones.
    var messages: [(phone: String, data: [String: String])] {
        fcm.recorder.phones.compactMap { record in
            if case .message(let message) = record.event { (record.device, message.data) } else { nil }
        }
    }
}
