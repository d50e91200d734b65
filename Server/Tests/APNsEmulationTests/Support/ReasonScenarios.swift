import APNsProtocol
import RichPushModel

@testable import APNsEmulation

/// How each answer of the reason table comes about, on whichever interface.
enum ReasonScenarios {
    typealias Scenario = @Sendable (inout EmulatorFixture, APNsEndpoint) throws -> Verdict

    static let all: [String: Scenario] = [requests, credentials, service].reduce(into: [:]) { all, some in
        all.merge(some) { first, _ in first }
    }

    private static let bad = "not-a-uuid"

    private static let requests: [String: Scenario] = [
        "200": { fixture, endpoint in fixture.send(endpoint) { if endpoint == .management { $0.method = "GET" } } },
        "201": { fixture, endpoint in fixture.send(endpoint) },
        "204": { fixture, endpoint in fixture.send(endpoint) { $0.method = "DELETE" } },
        "400 BadCollapseId": { fixture, endpoint in fixture.send(endpoint) { $0.collapseID = String(repeating: "x", count: 65) }
        },
        "400 BadDeviceToken": { fixture, endpoint in
            fixture.send(endpoint) { $0.path = "/3/device/" + String(repeating: "0", count: 64) }
        },
        "400 BadExpirationDate": { fixture, endpoint in
            fixture.send(endpoint) { $0.expiration = endpoint == .device ? "soon" : "17" }
        },
        "400 BadMessageId": { fixture, endpoint in
            fixture.send(endpoint) { if endpoint == .device { $0.apnsID = bad } else { $0.requestID = bad } }
        },
        "400 BadPriority": { fixture, endpoint in fixture.send(endpoint) { $0.priority = "7" } },
        "400 BadTopic": { fixture, endpoint in fixture.send(endpoint) { $0.topic = "no topic" } },
        "400 DeviceTokenNotForTopic": { fixture, endpoint in
            try fixture.apns.registerApp(bundleID: "com.example.second", teamID: fixture.signer.teamID)
            return fixture.send(endpoint) { $0.topic = "com.example.second" }
        },
        "400 DuplicateHeaders": { fixture, endpoint in fixture.send(endpoint) { $0.add(name: "apns-topic", value: "x") } },
        "400 InvalidPushType": { fixture, endpoint in
            fixture.send(endpoint, body: #"{"message-storage-policy":1,"push-type":"alert"}"#) {
                $0.pushType = endpoint == .device ? "poke" : "alert"
            }
        },
        "400 MissingDeviceToken": { fixture, endpoint in fixture.send(endpoint) { $0.path = "/3/device/" } },
        "400 MissingTopic": { fixture, endpoint in fixture.send(endpoint) { $0.topic = nil } },
        "400 PayloadEmpty": { fixture, endpoint in fixture.send(endpoint, body: "") },
        "400 TopicDisallowed": { fixture, endpoint in
            fixture.send(endpoint) { if endpoint == .device { $0.topic? += ".voip" } else { $0.path += ".voip" } }
        },
        "400 MissingChannelId": { fixture, endpoint in
            fixture.send(endpoint) { head in
                head.channelID = nil
                if endpoint == .management { head.method = "GET" }
            }
        },
        "400 BadChannelId": { fixture, endpoint in
            fixture.send(endpoint) { head in
                head.channelID = "no base64!"
                if endpoint == .management { head.method = "DELETE" }
            }
        },
        "400 ChannelNotRegistered": { fixture, endpoint in
            fixture.apns.deleteChannel(fixture.channel, bundleID: EmulatorFixture.bundleID)
            return fixture.send(endpoint) { if endpoint == .management { $0.method = "GET" } }
        },
        "400 BadRequestParams": { fixture, endpoint in
            fixture.send(endpoint, body: #"{"message-storage-policy":2,"push-type":"LiveActivity"}"#)
        },
        "400 BadRequestPayload": { fixture, endpoint in fixture.send(endpoint, body: "{") },
        "400 MissingPushType": { fixture, endpoint in
            fixture.send(endpoint, body: #"{"message-storage-policy":1}"#) { $0.pushType = nil }
        },
        "404 BadPath": { fixture, endpoint in
            fixture.send(endpoint) { $0.path = endpoint == .broadcast ? "/4/broadcasts/x" : "/5/device/x" }
        },
        "405 MethodNotAllowed": { fixture, endpoint in fixture.send(endpoint) { $0.method = "PUT" } },
        "413 PayloadTooLarge": { fixture, endpoint in
            fixture.send(endpoint, body: String(repeating: "x", count: endpoint == .device ? 4_097 : 5_121))
        },
    ]

    private static let credentials: [String: Scenario] = [
        "403 BadCertificate": { fixture, endpoint in
            let end = fixture.clock.now - .seconds(1)
            try fixture.show(.init(bundleID: EmulatorFixture.bundleID, notAfter: end))
            return fixture.send(endpoint)
        },
        "403 BadCertificateEnvironment": { fixture, endpoint in
            try fixture.show(.init(bundleID: EmulatorFixture.bundleID, environments: [.production]))
            return fixture.send(endpoint)
        },
        "403 ExpiredProviderToken": { fixture, endpoint in
            let old = fixture.signer.authorization(issuedAt: "\(fixture.clock.now.seconds - 3_601)")
            return fixture.send(endpoint) { $0.authorization = old }
        },
        "403 InvalidProviderToken": { fixture, endpoint in fixture.send(endpoint) { $0.authorization = "bearer a.b.c" } },
        "403 MissingProviderToken": { fixture, endpoint in fixture.send(endpoint) { $0.authorization = nil } },
        "403 UnrelatedKeyIdInToken": { fixture, endpoint in
            var signer = ProviderSigner()
            signer.keyID = "KEY0000002"
            try fixture.apns.registerKey(
                teamID: signer.teamID, keyID: signer.keyID, publicKeyPEM: signer.publicKeyPEM,
                topics: [EmulatorFixture.bundleID])
            _ = fixture.send(endpoint)
            let unrelated = signer.authorization(issuedAt: "\(fixture.clock.now.seconds - 1_200)")
            return fixture.send(endpoint) { $0.authorization = unrelated }
        },
        "403 BadEnvironmentKeyInToken": { fixture, endpoint in try sendWithProductionKey(&fixture, endpoint) },
        "403 BadEnvironmentKeyIdInToken": { fixture, endpoint in
            fixture.apns.rules.environmentKeyReason = .badEnvironmentKeyIDInToken
            return try sendWithProductionKey(&fixture, endpoint)
        },
        "403 TopicMismatch": { fixture, endpoint in
            try fixture.apns.registerApp(bundleID: "com.example.foreign", teamID: "TEAM000002", broadcasts: true)
            return fixture.send(endpoint) { $0.path.replace(EmulatorFixture.bundleID, with: "com.example.foreign") }
        },
        "429 TooManyProviderTokenUpdates": { fixture, endpoint in
            _ = fixture.send(endpoint)
            let again = fixture.signer.authorization(issuedAt: "\(fixture.clock.now.seconds)")
            return fixture.send(endpoint) { $0.authorization = again }
        },
    ]

    private static let service: [String: Scenario] = [
        "400 IdleTimeout": inject(.status(400, .idleTimeout)),
        "400 FeatureNotEnabled": { fixture, endpoint in
            try fixture.apns.registerApp(bundleID: EmulatorFixture.bundleID, teamID: fixture.signer.teamID)
            return fixture.send(endpoint)
        },
        "400 CannotCreateChannelConfig": { fixture, endpoint in
            fixture.apns.rules.channelsPerApp = 1
            return fixture.send(endpoint)
        },
        "403 Forbidden": inject(.status(403, .forbidden)),
        "410 ExpiredToken": { fixture, endpoint in
            fixture.apns.invalidate(token: fixture.token, reason: .expired, at: fixture.clock.now)
            return fixture.send(endpoint)
        },
        "410 Unregistered": { fixture, endpoint in
            fixture.apns.invalidate(token: fixture.token, reason: .unregistered, at: fixture.clock.now)
            return fixture.send(endpoint)
        },
        "429 TooManyRequests": { fixture, endpoint in
            fixture.apns.changeRules { rules in
                rules.deviceRate = .init(count: 1, seconds: 60)
                rules.appRate = .init(count: 1, seconds: 60)
            }
            _ = fixture.send(endpoint)
            return fixture.send(endpoint)
        },
        "500 InternalServerError": inject(.status(500, .internalServerError)),
        "503 ServiceUnavailable": inject(.status(503, .serviceUnavailable)),
        "503 Shutdown": inject(.shutdown),
    ]

    private static func inject(_ fault: InjectedFault) -> Scenario {
        { fixture, endpoint in
            fixture.apns.inject(fault)
            return fixture.send(endpoint)
        }
    }

    private static func sendWithProductionKey(_ fixture: inout EmulatorFixture, _ endpoint: APNsEndpoint) throws -> Verdict {
        var signer = ProviderSigner()
        signer.keyID = "KEY0000002"
        try fixture.apns.registerKey(
            teamID: signer.teamID, keyID: signer.keyID, publicKeyPEM: signer.publicKeyPEM, environment: .production)
        let authorization = signer.authorization(issuedAt: "\(fixture.clock.now.seconds)")
        return fixture.send(endpoint) { $0.authorization = authorization }
    }
}
