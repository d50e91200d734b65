import ClarionTesting
import RichPushModel
import ServiceErrors
import SharedAccess
import Testing

@testable import AppBackend

@Suite("A storm of sign-ins", .timeLimit(.minutes(10)))
struct SignInStormTests {
    private static let users = 160

    /// 160 users from as many networks sign in while no hash gets done; what became of those who were refused, then of the others.
    private func storm(
        _ test: TestBackend, meanwhile: () async throws -> Void
    ) async throws -> (refused: [ServiceError], signedIn: Int) {
        for number in 0..<Self.users {
            try await test.backend.addUser(
                name: "user\(number)", password: TestBackend.password(of: "user\(number)"), role: .user)
        }
        let blocked = await BlockedHashing(test.hasher, threads: 2)
        return try await withThrowingTaskGroup(of: ServiceError?.self) { group in
            // Before the group waits for those who sign in, however this ends.
            defer { blocked.release() }
            for number in 0..<Self.users {
                group.addTask {
                    do {
                        _ = try await test.backend.authenticate(
                            .basic(user: "user\(number)", password: TestBackend.password(of: "user\(number)")),
                            from: SourceAddress("10.1.\(number).1"))
                        return nil
                    } catch let error as ServiceError {
                        return error
                    }
                }
            }
            var refused: [ServiceError] = []
            // No verification ends before the threads go on, so the first results are the refusals.
            while refused.count < Self.users - test.hasher.capacity, let error = try await group.next() {
                refused.append(try #require(error))
            }
            try await meanwhile()
            blocked.release()
            var signedIn = 0
            for try await error in group where error == nil { signedIn += 1 }
            return (refused, signedIn)
        }
    }

    @Test("fills the queue of hashes and no more; the rest is answered at once when to retry, and no failure is counted")
    func sheds() async throws {
        let test = try await TestBackend()
        let (refused, signedIn) = try await storm(test) {}
        #expect(signedIn == test.hasher.capacity)
        #expect(refused.count == Self.users - test.hasher.capacity)
        #expect(refused.allSatisfy { $0.code == .overloaded && $0.retryAfter == PasswordHasher.retryAfter })
        for number in 0..<Self.users {
            _ = try await test.backend.authenticate(
                .basic(user: "user\(number)", password: TestBackend.password(of: "user\(number)")),
                from: SourceAddress("10.1.\(number).1"))
        }
    }

    @Test("holds up neither installation credentials, nor those who were verified a while ago, nor a send")
    func others() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let (phone, credential) = try await test.install(ann, "phone", handle: 1)
        let content = try await test.store(ann)
        let id = try await test.send(ann) { $0.contentID = content }
        _ = try await storm(test) {
            test.clock.advance(by: .seconds(60))
            let again = try await test.backend.authenticate(.bearer(credential), from: TestBackend.source)
            #expect(again == phone)
            #expect(try await test.content(of: id, for: again) == Sample.png)
            let remembered = try await test.signIn("ann")
            #expect(try await test.send(remembered, to: "username:ann") != id)
        }
    }

    @Test("from one network takes half of the queue, so that others get in", arguments: [false, true])
    func oneNetwork(ofOneUser: Bool) async throws {
        let test = try await TestBackend()
        _ = try await test.user("ann")
        test.backend.parts.authenticator.forget()
        let blocked = await BlockedHashing(test.hasher, threads: 2)
        let share = ofOneUser ? test.hasher.capacity / 8 : test.hasher.capacity / 2
        let codes = await withTaskGroup(of: ServiceErrorCode?.self) { group in
            for number in 0..<100 {
                // Of one user from everywhere, or of a hundred names from one network.
                let (name, source) = ofOneUser ? ("eve", "10.2.\(number).1") : ("eve\(number)", "10.2.0.\(number)")
                group.addTask {
                    await code {
                        _ = try await test.backend.authenticate(
                            .basic(user: name, password: "guess \(number)"), from: SourceAddress(source))
                    }
                }
            }
            var codes: [ServiceErrorCode?] = []
            while codes.count < 100 - share, let code = await group.next() { codes.append(code) }
            #expect(codes.allSatisfy { $0 == .overloaded })
            group.addTask { await code { _ = try await test.signIn("ann") } }
            // Ann's attempt is in the queue behind theirs, or is refused; only a refusal would come before the threads go on.
            blocked.release()
            for await code in group { codes.append(code) }
            return codes
        }
        #expect(codes.count { $0 == nil } == 1)
        #expect(codes.count { $0 == .unauthenticated } == share)
    }

    @Test("gives every share of the queue back")
    func shares() {
        var shares = HashingShares(capacity: 16)
        func pair(_ user: String, _ source: String) -> SignInAttempt {
            SignInAttempt(user: user, source: SourceAddress(source))
        }
        for _ in 0..<3 {
            #expect(shares.take(pair("ann", "10.0.1.1")) == true)
            #expect(shares.take(pair("ann", "10.0.2.1")) == true)
            #expect(shares.take(pair("ann", "10.0.3.1")) == false)
            for number in 0..<7 { #expect(shares.take(pair("user\(number)", "10.0.1.9")) == true) }
            #expect(shares.take(pair("user8", "10.0.1.2")) == false)
            shares.giveBack(pair("ann", "10.0.1.1"))
            shares.giveBack(pair("ann", "10.0.2.1"))
            for number in 0..<7 { shares.giveBack(pair("user\(number)", "10.0.1.9")) }
        }
    }
}
