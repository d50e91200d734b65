import Testing

@Suite("Each push transport keeps the promises of its port", .timeLimit(.minutes(10)))
struct TransportConformanceTests {
    @Test("APNs:", arguments: TransportPromises.all)
    func apns(_ promise: TransportPromise) async throws { try await run(APNsRig.self, promise) }

    @Test("FCM:", arguments: TransportPromises.all)
    func fcm(_ promise: TransportPromise) async throws { try await run(FCMRig.self, promise) }

    @Test("Web Push:", arguments: TransportPromises.all)
    func webPush(_ promise: TransportPromise) async throws { try await run(BrowserRig.self, promise) }

    @Test("Web Push at a service without HTTP/2:", arguments: TransportPromises.all)
    func webPushWithoutHTTP2(_ promise: TransportPromise) async throws {
        var terms = promise.terms
        terms.speaksHTTP2 = false
        try await run(BrowserRig.self, TransportPromise(promise.name, terms, promise.check))
    }

    private func run<Rig: TransportRig>(_ rig: Rig.Type, _ promise: TransportPromise) async throws {
        try await rig.run(promise.terms) { try await promise.check($0) }
    }
}
