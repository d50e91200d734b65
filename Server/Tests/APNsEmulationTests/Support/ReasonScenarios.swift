import APNsProtocol
import RichPushModel

@testable import APNsEmulation

/// How each answer of the reason table comes about, on whichever interface.
enum ReasonScenarios {
    typealias Scenario = @Sendable (inout EmulatorFixture, APNsDoor) throws -> Verdict

    static let all: [String: Scenario] = [requests, credentials, service].reduce(into: [:]) { all, some in
        all.merge(some) { first, _ in first }
    }

    private static let bad = "not-a-uuid"

    private static let requests: [String: Scenario] = [
        "200": { fixture, door in fixture.send(door) { if door == .management { $0.method = "GET" } } },
        "201": { fixture, door in fixture.send(door) },
        "204": { fixture, door in fixture.send(door) { $0.method = "DELETE" } },
        "400 BadCollapseId": { fixture, door in fixture.send(door) { $0.collapseID = String(repeating: "x", count: 65) } },
        "400 BadDeviceToken": { fixture, door in
            fixture.send(door) { $0.path = "/3/device/" + String(repeating: "0", count: 64) }
        },
        "400 BadExpirationDate": { fixture, door in fixture.send(door) { $0.expiration = door == .device ? "soon" : "17" } },
        "400 BadMessageId": { fixture, door in
            fixture.send(door) { if door == .device { $0.apnsID = bad } else { $0.requestID = bad } }
        },
        "400 BadPriority": { fixture, door in fixture.send(door) { $0.priority = "7" } },
        "400 BadTopic": { fixture, door in fixture.send(door) { $0.topic = "no topic" } },
        "400 DeviceTokenNotForTopic": { fixture, door in
            try fixture.apns.registerApp(bundleID: "com.example.second", teamID: fixture.signer.teamID)
            return fixture.send(door) { $0.topic = "com.example.second" }
        },
        "400 DuplicateHeaders": { fixture, door in fixture.send(door) { $0.add(name: "apns-topic", value: "x") } },
        "400 InvalidPushType": { fixture, door in
            fixture.send(door, body: #"{"message-storage-policy":1,"push-type":"alert"}"#) {
                $0.pushType = door == .device ? "poke" : "alert"
            }
        },
        "400 MissingDeviceToken": { fixture, door in fixture.send(door) { $0.path = "/3/device/" } },
        "400 MissingTopic": { fixture, door in fixture.send(door) { $0.topic = nil } },
        "400 PayloadEmpty": { fixture, door in fixture.send(door, body: "") },
        "400 TopicDisallowed": { fixture, door in
            fixture.send(door) { if door == .device { $0.topic? += ".voip" } else { $0.path += ".voip" } }
        },
        "400 MissingChannelId": { fixture, door in
            fixture.send(door) { head in
                head.channelID = nil
                if door == .management { head.method = "GET" }
            }
        },
        "400 BadChannelId": { fixture, door in
            fixture.send(door) { head in
                head.channelID = "no base64!"
                if door == .management { head.method = "DELETE" }
            }
        },
        "400 ChannelNotRegistered": { fixture, door in
            fixture.apns.deleteChannel(fixture.channel, bundleID: EmulatorFixture.bundleID)
            return fixture.send(door) { if door == .management { $0.method = "GET" } }
        },
        "400 BadRequestParams": { fixture, door in
            fixture.send(door, body: #"{"message-storage-policy":2,"push-type":"LiveActivity"}"#)
        },
        "400 BadRequestPayload": { fixture, door in fixture.send(door, body: "{") },
        "400 MissingPushType": { fixture, door in
            fixture.send(door, body: #"{"message-storage-policy":1}"#) { $0.pushType = nil }
        },
        "404 BadPath": { fixture, door in fixture.send(door) { $0.path = door == .broadcast ? "/4/broadcasts/x" : "/5/device/x" }
        },
        "405 MethodNotAllowed": { fixture, door in fixture.send(door) { $0.method = "PUT" } },
        "413 PayloadTooLarge": { fixture, door in
            fixture.send(door, body: String(repeating: "x", count: door == .device ? 4_097 : 5_121))
        },
    ]

    private static let credentials: [String: Scenario] = [
        "403 BadCertificate": { fixture, door in
            let end = fixture.clock.now - .seconds(1)
            try fixture.show(.init(bundleID: EmulatorFixture.bundleID, notAfter: end))
            return fixture.send(door)
        },
        "403 BadCertificateEnvironment": { fixture, door in
            try fixture.show(.init(bundleID: EmulatorFixture.bundleID, environments: [.production]))
            return fixture.send(door)
        },
        "403 ExpiredProviderToken": { fixture, door in
            let old = fixture.signer.authorization(issuedAt: "\(fixture.clock.now.seconds - 3_601)")
            return fixture.send(door) { $0.authorization = old }
        },
        "403 InvalidProviderToken": { fixture, door in fixture.send(door) { $0.authorization = "bearer a.b.c" } },
        "403 MissingProviderToken": { fixture, door in fixture.send(door) { $0.authorization = nil } },
        "403 UnrelatedKeyIdInToken": { fixture, door in
            var signer = ProviderSigner()
            signer.keyID = "KEY0000002"
            try fixture.apns.registerKey(
                teamID: signer.teamID, keyID: signer.keyID, publicKeyPEM: signer.publicKeyPEM,
                topics: [EmulatorFixture.bundleID])
            _ = fixture.send(door)
            let unrelated = signer.authorization(issuedAt: "\(fixture.clock.now.seconds - 1_200)")
            return fixture.send(door) { $0.authorization = unrelated }
        },
        "403 BadEnvironmentKeyInToken": { fixture, door in try sendWithProductionKey(&fixture, door) },
        "403 BadEnvironmentKeyIdInToken": { fixture, door in
            fixture.apns.rules.environmentKeyReason = .badEnvironmentKeyIDInToken
            return try sendWithProductionKey(&fixture, door)
        },
        "403 TopicMismatch": { fixture, door in
            try fixture.apns.registerApp(bundleID: "com.example.foreign", teamID: "TEAM000002", broadcasts: true)
            return fixture.send(door) { $0.path.replace(EmulatorFixture.bundleID, with: "com.example.foreign") }
        },
        "429 TooManyProviderTokenUpdates": { fixture, door in
            _ = fixture.send(door)
            let again = fixture.signer.authorization(issuedAt: "\(fixture.clock.now.seconds)")
            return fixture.send(door) { $0.authorization = again }
        },
    ]

    private static let service: [String: Scenario] = [
        "400 IdleTimeout": inject(.status(400, .idleTimeout)),
        "400 FeatureNotEnabled": { fixture, door in
            try fixture.apns.registerApp(bundleID: EmulatorFixture.bundleID, teamID: fixture.signer.teamID)
            return fixture.send(door)
        },
        "400 CannotCreateChannelConfig": { fixture, door in
            fixture.apns.rules.channelsPerApp = 1
            return fixture.send(door)
        },
        "403 Forbidden": inject(.status(403, .forbidden)),
        "410 ExpiredToken": { fixture, door in
            fixture.apns.invalidate(token: fixture.token, reason: .expired, at: fixture.clock.now)
            return fixture.send(door)
        },
        "410 Unregistered": { fixture, door in
            fixture.apns.invalidate(token: fixture.token, reason: .unregistered, at: fixture.clock.now)
            return fixture.send(door)
        },
        "429 TooManyRequests": { fixture, door in
            fixture.apns.changeRules { rules in
                rules.deviceRate = .init(count: 1, seconds: 60)
                rules.appRate = .init(count: 1, seconds: 60)
            }
            _ = fixture.send(door)
            return fixture.send(door)
        },
        "500 InternalServerError": inject(.status(500, .internalServerError)),
        "503 ServiceUnavailable": inject(.status(503, .serviceUnavailable)),
        "503 Shutdown": inject(.shutdown),
    ]

    private static func inject(_ fault: InjectedFault) -> Scenario {
        { fixture, door in
            fixture.apns.inject(fault)
            return fixture.send(door)
        }
    }

    private static func sendWithProductionKey(_ fixture: inout EmulatorFixture, _ door: APNsDoor) throws -> Verdict {
        var signer = ProviderSigner()
        signer.keyID = "KEY0000002"
        try fixture.apns.registerKey(
            teamID: signer.teamID, keyID: signer.keyID, publicKeyPEM: signer.publicKeyPEM, environment: .production)
        let authorization = signer.authorization(issuedAt: "\(fixture.clock.now.seconds)")
        return fixture.send(door) { $0.authorization = authorization }
    }
}
