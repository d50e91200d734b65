import APNsProtocol
import Testing

@Suite("The rules of broadcasts and channels")
struct APNsBroadcastRulesTests {
    private func fault(_ change: (inout APNsBroadcast) -> Void) -> APNsPushFault? {
        var broadcast = APNsBroadcast(
            app: "com.example.app", channel: APNsChannel.ID(rawValue: "Y2hhbm5lbA=="), payload: [0x7B, 0x7D])
        change(&broadcast)
        do throws(APNsPushFault) {
            try APNsBroadcastRules.check(broadcast, .apple)
            return nil
        } catch {
            return error
        }
    }

    @Test("a broadcast that Apple would refuse is refused before it costs a request")
    func faults() {
        #expect(fault { _ in } == nil)
        #expect(fault { $0.app = "com.example.app/../1" } == .malformedApp)
        #expect(fault { $0.app = "" } == .malformedApp)
        #expect(fault { $0.channel = APNsChannel.ID(rawValue: "a\r\nb") } == .malformedChannel)
        #expect(fault { $0.channel = APNsChannel.ID(rawValue: String(repeating: "a", count: 513)) } == .malformedChannel)
        #expect(fault { $0.priority = 7 } == .malformedPriority)
        #expect(fault { $0.expiration = -1 } == .malformedExpiration)
        #expect(fault { $0.pushType = .alert } == .notLiveActivity)
        #expect(fault { $0.payload = [] } == .emptyPayload)
        #expect(fault { $0.payload = [UInt8](repeating: 0x20, count: 5120) } == nil)
        #expect(fault { $0.payload = [UInt8](repeating: 0x20, count: 5121) } == .payloadTooLarge(size: 5121, limit: 5120))
    }

    @Test("of all bytes only letters, digits, hyphens and dots stand in a bundle id, so that none can end or fork the path")
    func bytesOfApps() {
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-."
        for byte in UInt8.min...UInt8.max {
            // Above ASCII a character has several bytes.
            let app = "com.example" + String(UnicodeScalar(byte))
            let isAllowed = letters.utf8.contains(byte)
            #expect(fault { $0.app = app } == (isAllowed ? nil : .malformedApp), "byte \(byte)")
        }
    }

    @Test("of all bytes only those of base64 stand in a channel id, and only small letters, digits and hyphens in a push type")
    func bytesOfChannelsAndTypes() {
        let base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_"
        let allowed = "abcdefghijklmnopqrstuvwxyz0123456789-"
        for byte in UInt8.min...UInt8.max {
            let character = String(UnicodeScalar(byte))
            #expect(APNsChannel.ID(rawValue: "a" + character).isWellFormed == base64.utf8.contains(byte), "byte \(byte)")
            var broadcast = APNsBroadcast(
                app: "com.example.app", channel: APNsChannel.ID(rawValue: "YQ=="), payload: [0x7B, 0x7D])
            broadcast.pushType = APNsPushType(rawValue: "a" + character)
            let isAllowed = (try? APNsBroadcastRules.check(broadcast, .wireOnly)) != nil
            #expect(isAllowed == allowed.utf8.contains(byte), "byte \(byte)")
        }
    }

    @Test("the management hosts and ports differ by environment")
    func hosts() {
        #expect(APNsEnvironment.sandbox.managementHost == "api-manage-broadcast.sandbox.push.apple.com")
        #expect(APNsEnvironment.sandbox.managementPort == 2195)
        #expect(APNsEnvironment.production.managementHost == "api-manage-broadcast.push.apple.com")
        #expect(APNsEnvironment.production.managementPort == 2196)
    }

    @Test(
        "refusals about channels say what to do",
        arguments: [
            (APNsReason.channelNotRegistered, APNsDisposition.drop), (.featureNotEnabled, .fixConfiguration),
            (.topicMismatch, .fixConfiguration), (.badChannelID, .fixRequest), (.missingPushType, .fixRequest),
            (.cannotCreateChannelConfig, .later),
        ])
    func dispositions(reason: APNsReason, disposition: APNsDisposition) {
        #expect(APNsRejection(status: 400, reason: reason).disposition == disposition)
    }
}
