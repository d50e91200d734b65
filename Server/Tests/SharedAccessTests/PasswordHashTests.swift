import Testing

@testable import SharedAccess

@Suite struct PasswordHashTests {
    private static let cheap = PasswordHash.Cost(logarithmOfRounds: 4, blockSize: 1, parallelism: 1)

    @Test("a hash verifies its password and no other, also after storage")
    func verifies() throws {
        let hash = try PasswordHash(of: "correct horse", cost: Self.cheap)
        let stored = try #require(PasswordHash(stored: hash.stored))
        #expect(stored == hash)
        #expect(try stored.verifies("correct horse"))
        #expect(try !stored.verifies("correct horsf"))
        #expect(try !stored.verifies(""))
    }

    @Test("the derivation is scrypt as RFC 7914 section 12 gives it")
    func vector() throws {
        let hash = try PasswordHash(
            of: "pleaseletmein", cost: PasswordHash.Cost(logarithmOfRounds: 14, blockSize: 8, parallelism: 1),
            salt: Array("SodiumChloride".utf8))
        // The vector has 64 bytes; PBKDF2 makes the first 32 independently of the rest.
        #expect(hash.key.prefix(8).elementsEqual([0x70, 0x23, 0xBD, 0xCB, 0x3A, 0xFD, 0x73, 0x48]))
    }

    @Test("a new hash costs N = 2^14, r = 8, p = 5 and has a salt of its own")
    func standard() throws {
        let first = try PasswordHash(of: "same")
        let second = try PasswordHash(of: "same")
        #expect(first.stored.hasPrefix("$scrypt$ln=14,r=8,p=5$"))
        #expect(first.salt.count == 16)
        #expect(first.stored != second.stored)
    }

    @Test(
        "a stored text that is damaged or asks for too much is refused",
        arguments: [
            "", "$scrypt$", "$scrypt$ln=30,r=8,p=1$c2FsdHNhbHQ$a2V5a2V5a2V5a2V5a2V5a2V5", "$bcrypt$ln=4,r=1,p=1$c2FsdHNhbHQ$a2V5",
            "$scrypt$ln=4,r=1$c2FsdHNhbHQ$a2V5a2V5a2V5a2V5a2V5a2V5",
            "$scrypt$ln=4,r=999,p=1$c2FsdHNhbHQ$a2V5a2V5a2V5a2V5a2V5a2V5",
            "$scrypt$ln=4,r=1,p=1$!!$a2V5a2V5a2V5a2V5a2V5a2V5", "$scrypt$ln=4,r=1,p=17$c2FsdHNhbHQ$a2V5a2V5a2V5a2V5a2V5a2V5",
            "$scrypt$ln=17,r=16,p=2$c2FsdHNhbHQ$a2V5a2V5a2V5a2V5a2V5a2V5",
        ])
    func damaged(_ text: String) { #expect(PasswordHash(stored: text) == nil) }

    @Test("a hash of the cost before this one is still read", arguments: ["ln=14,r=8,p=1", "ln=17,r=8,p=1", "ln=13,r=8,p=10"])
    func older(_ cost: String) { #expect(PasswordHash(stored: "$scrypt$\(cost)$c2FsdHNhbHQ$a2V5a2V5a2V5a2V5a2V5a2V5") != nil) }

    @Test("a hash is never printed")
    func redacted() throws {
        let hash = try PasswordHash(of: "x", cost: Self.cheap)
        #expect("\(hash)" == "password hash (not shown)")
        #expect(String(reflecting: hash) == "password hash (not shown)")
    }

    @Test("the hasher hashes and verifies off the caller's thread")
    func hasher() async throws {
        let hasher = PasswordHasher(cost: Self.cheap)
        let hash = try await hasher.hash("word")
        #expect(try await hasher.verify("word", against: hash))
        #expect(try await !hasher.verify("other", against: hash))
    }

    @Test("a full queue refuses at once instead of growing, and accepted jobs all finish")
    func bounded() async throws {
        let hasher = PasswordHasher(threads: 1, capacity: 1, cost: .standard)
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<40 {
                group.addTask {
                    do throws(PasswordHashFault) {
                        _ = try await hasher.hash("word \(number)")
                        return true
                    } catch {
                        return false
                    }
                }
            }
            return await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(outcomes.count == 40)
        #expect(outcomes.contains(true))
        #expect(outcomes.contains(false))
    }

    @Test("a stopped queue answers every waiting job once and takes no more")
    func stopped() {
        let queue = HashingQueue(capacity: 4)
        let answers = Answers()
        #expect(queue.submit { answers.add($0) })
        queue.stop()
        #expect(answers.all == [false])
        #expect(!queue.submit { answers.add($0) })
    }
}
