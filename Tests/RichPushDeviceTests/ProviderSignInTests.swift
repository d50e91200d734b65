import RichPushModel
import Testing

@testable import RichPushDevice

@Suite("A sign-in for which the app's accounts are asked")
struct ProviderSignInTests {
    let device: TestDevice

    init() throws { device = try TestDevice() }

    @Test("signs in a user whom the app has already, and names the installation")
    func signsIn() async throws {
        let engine = try await device.launchWithTokens()
        device.tokens.set("token.of.alice")
        let session = try await engine.signIn()
        #expect(session.user == "alice")
        #expect(device.tokens.needs == [SignInTokenNeed(installation: session.installation, user: nil)])
    }

    @Test("without a user of the app ends what is signed in here")
    func noUser() async throws {
        let engine = try await device.launchWithTokens()
        _ = try await engine.signIn(token: "token.of.alice")
        await #expect(throws: RichPushError.notSignedIn) { try await engine.signIn() }
        #expect(await engine.state == .signedOut)
    }

    @Test("needs a provider")
    func noProvider() async throws {
        let engine = try await device.launch()
        await #expect(throws: RichPushError.notSignedIn) { try await engine.signIn() }
        #expect(device.backend.requests.isEmpty)
    }

    @Test("goes on by itself when the app has no token now")
    func unavailable() async throws {
        let engine = try await device.launchWithTokens()
        device.tokens.fail()
        await #expect(throws: RichPushError.tokenUnavailable) { try await engine.signIn() }
        #expect(await engine.state == .signingIn)
        #expect(await eventually { device.clock.sleeperCount == 1 })
        device.tokens.set("token.of.alice")
        device.clock.advance(by: .seconds(2))
        #expect(await eventually { await engine.session?.user == "alice" })
    }
}
