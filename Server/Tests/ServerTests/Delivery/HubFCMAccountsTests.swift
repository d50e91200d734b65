import ClarionTesting
import CryptoExtras
import FCMDelivery
import FCMProtocol
import Foundation
import PushHub
import RichPushModel
import SQLStorage
import Testing

@testable import ServerDelivery
@testable import ServerStorage

@Suite("With which service account a hub sends to Android")
struct HubFCMAccountsTests {
    private static func pem() throws -> String { try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation }

    private func withAccounts(
        node: FCMServiceAccount?, _ body: (HubFCMAccounts, HubRegistry) async throws -> Void
    ) async throws {
        let folder = NSTemporaryDirectory() + "clarion-fcm-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var settings = try #require(SettingsFixture().read().settings)
        settings.dataDirectory = folder
        let storage = try await NodeStorage.open(settings, access: .server, clock: ManualClock())
        defer { try? storage.database.close() }
        let store = SQLHubStore(storage.database)
        let catalog = HubCatalog(store: store, box: storage.box, clock: storage.clock)
        // Without a look at credentials, so that a wrong one can be stored.
        try await body(
            HubFCMAccounts(catalog, node: node, tokenURL: "https://fcm.example/token"),
            HubRegistry(store: store, box: storage.box, clock: storage.clock))
    }

    private static func project(_ credential: FCMCredential) -> String? {
        if case .account(let account) = credential { account.projectID } else { nil }
    }

    @Test("a hub's own account comes before that of the node, and other hubs use that of the node")
    func own() async throws {
        let node = try FCMServiceAccount(projectID: "node", privateKey: Self.pem(), clientEmail: "a@node.example")
        try await withAccounts(node: node) { accounts, registry in
            let own = HubFCMCredential(projectID: "own", clientEmail: "a@own.example", privateKey: try Self.pem())
            let hub = try await registry.create(try HubRegistry.name("own"), HubChange(credentials: [.set(.fcm(own))]))
            #expect(Self.project(await accounts.credential(for: hub.id)) == "own")
            if case .account(let account) = await accounts.credential(for: hub.id) {
                #expect(account.tokenURL == "https://fcm.example/token")
            }
            #expect(Self.project(await accounts.credential(for: HubID(1))) == "node")
        }
    }

    @Test("the id of a key is kept with the key of a hub, and one that was stored without an id is read")
    func keyID() async throws {
        try await withAccounts(node: nil) { accounts, registry in
            for (name, keyID) in [("with", "0f1e2d"), ("without", nil)] as [(String, String?)] {
                let own = HubFCMCredential(
                    projectID: name, clientEmail: "a@own.example", privateKey: try Self.pem(), keyID: keyID)
                let hub = try await registry.create(try HubRegistry.name(name), HubChange(credentials: [.set(.fcm(own))]))
                guard case .account(let account) = await accounts.credential(for: hub.id) else {
                    Issue.record("hub \(name) has no account")
                    continue
                }
                #expect(account.keyID == keyID)
            }
        }
        let former = #"{"projectID":"shop","clientEmail":"a@shop.example","privateKey":"pem"}"#
        let read = try JSONDecoder().decode(HubFCMCredential.self, from: Data(former.utf8))
        #expect(read == HubFCMCredential(projectID: "shop", clientEmail: "a@shop.example", privateKey: "pem"))
    }

    @Test("without any account nothing is sent, and one that cannot be read waits for the operator")
    func none() async throws {
        try await withAccounts(node: nil) { accounts, registry in
            guard case .none(.unsupported) = await accounts.credential(for: HubID(1)) else {
                Issue.record("an account came from nowhere")
                return
            }
            let bad = HubFCMCredential(projectID: "bad", clientEmail: "a@bad.example", privateKey: "no key")
            let hub = try await registry.create(try HubRegistry.name("bad"), HubChange(credentials: [.set(.fcm(bad))]))
            guard case .none(.misconfigured) = await accounts.credential(for: hub.id) else {
                Issue.record("a wrong key was taken")
                return
            }
        }
    }

    @Test("an account that cannot be read is refused before it is stored, and the answer has nothing of the key")
    func checked() throws {
        let bad = HubFCMCredential(projectID: "bad", clientEmail: "a@bad.example", privateKey: "secret text")
        do {
            try HubCredentialCheck.check(.fcm(bad))
            Issue.record("it was taken")
        } catch {
            #expect("\(error)".contains("PrivateKey") && !"\(error)".contains("secret text"))
        }
    }
}
