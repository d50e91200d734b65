import ArgumentParser
import CommandLineSupport
import WebPushProtocol

struct WebPushKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "web-push-key", abstract: "Make a VAPID key, with which the server pushes to browsers.",
        discussion: """
            The private key goes to standard output: append it to the file that `web-push-keys-path` names. To change keys, put the new one \
            into the first line and keep the others: browsers that subscribed with them are still sent to.
            """)

    @Option(
        help: ArgumentHelp(
            "Make none; print the public half of each key of this file. Pages subscribe with the first one.", valueName: "file"))
    var show: String?

    func run() throws {
        guard let show else {
            let key = VAPIDKey()
            Terminal.note("The public half, with which pages subscribe: \(key.publicText)")
            return Terminal.say(key.privateText)
        }
        let words = String(decoding: try ContentInput.read(show), as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard !words.isEmpty else { throw InputFault("\(show) holds no key", .badInput) }
        // All before the first is printed: a list that ends early would pass for the whole one.
        let keys = try words.enumerated().map { number, word in
            guard let key = VAPIDKey(privateText: word) else {
                throw InputFault("\(show): word \(number + 1) is no key of 43 letters of Base64", .badInput)
            }
            return key.publicText
        }
        for key in keys { Terminal.say(key) }
    }
}
