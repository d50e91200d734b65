import Foundation
import RichPushModel
import RichPushSealing

@testable import RichPushDevice

extension ScriptedBackend {
    /// The key that the device last registered.
    var sealingKey: String? {
        requests.last { $0.method == "PUT" && $0.url.path.contains("/installations/") }
            .flatMap { try? JSONDecoder().decode(InstallationUpdate.self, from: $0.body ?? Data()) }?.sealingKey
    }

    /// Puts a sealed notification on the server, for the key that the device registered or for another.
    func storeSealed(
        _ number: Int32, _ words: SealedText, content: SealingPart? = nil, thumb: SealingPart? = nil,
        key: SealingPublicKey? = nil, change: (inout Data) -> Void = { _ in }
    ) throws {
        let registered = try SealingPublicKey(sealingKey ?? "")
        let installation = requests.compactMap { $0.url.pathComponents.last.flatMap { InstallationID($0) } }
        let recipient = SealingRecipient(installation: installation[0], key: key ?? registered)
        let sealer = try Sealer(text: words, content: content, thumb: thumb)
        var envelope = try sealer.envelope(for: id(number), to: [recipient])
        change(&envelope)
        store(
            number, kind: .sealed, bytes: sealer.content ?? envelope, mediaType: MediaFormat.sealed.rawValue, title: "Forged",
            message: "Forged beside the seal", thumb: envelope)
    }
}
