import AppBackend
import ArgumentParser
import CommandLineSupport
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Mint a one-time sign-in token for a user, over the API.",
        discussion: """
            A phone exchanges the token once for the credential of its installation. The call is signed with the service key in \
            CLARION_KEY, which needs the scope sign-in, or with the name and password of an administrator.
            """)

    @OptionGroup var server: ServerArguments

    @Argument(help: "The user whom the token signs in.")
    var name: UserName

    @Option(parsing: .upToNextOption, help: "Tags in place of those of the user.", transform: TokenCommand.tagArgument)
    var tag: [Tag] = []

    @Option(help: "The only installation that may use it.")
    var installation: InstallationID?

    @Option(help: "How many seconds it holds, 60 to 3600.")
    var lifetime = 600

    @Flag(help: "Refuse a user who does not exist, instead of creating them.")
    var existingUser = false

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard (60...3_600).contains(lifetime) else { throw ValidationError("--lifetime is a number from 60 to 3600") }
    }

    func run() async throws {
        let request = SignInTokenRequest(
            user: name.text, installation: installation, tags: tag.isEmpty ? nil : tag, lifetimeSeconds: lifetime,
            createsUser: !existingUser)
        try await server.client().use { client in
            let answer = try await client.mint(request)
            if json { return print(try JSONOutput.text(of: answer)) }
            let end = Date(timeIntervalSince1970: Double(answer.expiresAt.milliseconds) / 1000).formatted(.iso8601)
            // The secret alone on standard output, so that a script can take it; the rest is a note.
            Terminal.note("signs \(name) in once, until \(end); shown once")
            print(answer.token)
        }
    }

    private static func tagArgument(_ text: String) throws -> Tag {
        guard let tag = Tag(text) else {
            throw ValidationError("a tag has 1 to \(Tag.maximumLength) letters, digits and _ @ # . : -")
        }
        return tag
    }
}

extension InstallationID: @retroactive ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}
