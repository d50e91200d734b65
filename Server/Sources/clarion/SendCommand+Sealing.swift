import ArgumentParser
import RichPushModel
import RichPushSealing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Sealing happens here, in the sender's own process: the server gets what it cannot read.
extension SendCommand {
    /// How often the number is asked for anew when other sends are faster.
    private static let attempts = 5

    func validateForSealing() throws {
        guard seal else {
            guard to == nil, keys == nil, thumb == nil else {
                throw ValidationError("--to, --keys and --thumb go with --seal; without it use --audience")
            }
            return
        }
        guard audience == nil else { throw ValidationError("a sealed send names its users with --to, not with --audience") }
        guard hub.hub == nil else { throw ValidationError("a hub stores no content: --seal needs an app backend") }
        guard preview != .open else { throw ValidationError("a sealed send shows Apple nothing, so not with --preview open") }
    }

    /// Seals and sends. Everything that can fail for want of a key or a file fails before anything is uploaded.
    func sendSealed(_ client: BackendClient, idempotencyKey key: String) async throws -> SendAnswer {
        let sealer = try Sealer(
            words: words, content: try content.map { try Self.part($0) }, thumb: try thumb.map { try Self.part($0) })
        var directory = try await client.sealingDirectory(users: to)
        let recipients = try recipients(directory.keys)
        _ = try sealer.envelope(for: directory.number, to: recipients)
        let content = try await sealer.content.asyncMap { try await client.upload($0, of: .sealed).id }
        for attempt in 1... {
            let envelope = try sealer.envelope(for: directory.number, to: recipients)
            let uploaded = try await client.upload(envelope, of: .sealed).id
            do {
                let request = sealedRequest(directory.number, content: content ?? uploaded, envelope: uploaded)
                return try await client.send(request, content: nil, idempotencyKey: key)
            } catch let problem as Problem where problem.code == "conflict" && attempt < Self.attempts {
                directory = try await client.sealingDirectory(users: to)
            }
        }
        throw ExitCode.tryAgain
    }

    private var words: SealedWords {
        var words = SealedWords(kind: kind ?? .text, title: title, message: message)
        words.subtitle = subtitle
        words.altText = altText
        words.link = link
        if let coupon, let headline { words.coupon = Coupon(code: coupon, headline: headline) }
        return words
    }

    private func sealedRequest(_ number: RichID, content: String, envelope: String) -> SendRequest {
        var request = SendRequest(message: "")
        request.kind = .sealed
        request.id = number
        request.audience = to.map { users in users.split(separator: ",").map { "username:\($0)" }.joined(separator: " || ") }
        request.style = style
        request.contentID = content
        request.thumbID = envelope
        return request
    }

    /// The keys that the server names, or, with `--keys`, only those of the file: then the server need not be trusted with them.
    private func recipients(_ told: [SealingDirectory.Key]) throws -> [SealingRecipient] {
        var entries = told
        if let keys {
            guard let data = try? Data(contentsOf: URL(filePath: keys)),
                let pinned = try? JSONDecoder().decode([SealingDirectory.Key].self, from: data)
            else { throw ValidationError("\(keys) is not what `clarion keys --json` prints") }
            entries = pinned
        }
        guard !entries.isEmpty else {
            throw ValidationError(
                "there is no key to seal for: nobody of them is signed in with an app that opens sealed content")
        }
        guard entries.count <= Sealer.recipientLimit else {
            throw ValidationError("a seal is for \(Sealer.recipientLimit) installations at most, and these are \(entries.count)")
        }
        return try entries.map { entry in
            guard let key = try? SealingPublicKey(entry.key) else {
                throw ValidationError("the key of \(entry.user)'s installation is none")
            }
            return SealingRecipient(installation: entry.installation, key: key)
        }
    }

    private static func part(_ path: String) throws -> SealingPart {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        guard let format = MediaFormat(fileName: name) else {
            throw ValidationError("\(name) has an ending of no type that a device takes")
        }
        guard let bytes = try? Data(contentsOf: URL(filePath: path)) else { throw ValidationError("\(path) cannot be read") }
        return SealingPart(bytes: bytes, format: format, fileName: name)
    }
}

extension Optional {
    fileprivate func asyncMap<Value>(_ work: (Wrapped) async throws -> Value) async rethrows -> Value? {
        guard let self else { return nil }
        return try await work(self)
    }
}
