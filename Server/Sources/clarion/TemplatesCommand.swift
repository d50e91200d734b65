import ArgumentParser
import CommandLineSupport
// FileManager is in no smaller part of it.
import Foundation
import RichPushModel

struct TemplatesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "templates",
        abstract: "List, show, store and remove message templates; `clarion send --template` sends them.",
        subcommands: [List.self, Show.self, Put.self, Remove.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List message templates by name.")

        @OptionGroup var server: ServerArguments

        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            try await server.client().use { client in
                let templates = try await everyPage { cursor, _ in
                    let page = try await client.messageTemplates(after: cursor)
                    return (page.templates, page.next)
                }
                guard !json else { return print(try JSONOutput.text(of: templates)) }
                let rows = templates.map { template in
                    [
                        template.name, "\(template.version)", template.placeholders.joined(separator: ","),
                        template.changedAt.inUTC, template.author,
                    ]
                }
                print(TextTable(columns: ["NAME", "VERSION", "VALUES", "CHANGED", "BY"], rows: rows))
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print a message template as JSON, which `put` reads.")

        @OptionGroup var server: ServerArguments

        @Argument(help: "The name.")
        var name: TemplateName

        @Option(help: "One of its earlier versions.")
        var version: Int?

        func run() async throws {
            try await server.client().use { client in
                print(try JSONOutput.text(of: try await client.messageTemplate(name.text, version: version)))
            }
        }
    }

    struct Put: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Store a message template, or a new version of it.",
            discussion: """
                Of the file it reads `notification` and `defaults`, as the API has them. With --replaces it fails when another version is \
                the latest.
                """)

        @OptionGroup var server: ServerArguments

        @Argument(help: "The name: small letters, digits and -.")
        var name: TemplateName

        @Argument(help: "A file with JSON.")
        var file: String

        @Option(help: "The version that it replaces; 0 for none.")
        var replaces: Int?

        func run() async throws {
            let data = try ContentInput.read(file)
            var request: MessageTemplateRequest
            do { request = try JSONDecoder().decode(MessageTemplateRequest.self, from: data) } catch let error as DecodingError {
                throw InputFault("\(file): \(error.place)", .badInput)
            }
            request.replaces = replaces
            let asked = request
            try await server.client().use { client in
                let template = try await client.putMessageTemplate(name.text, asked)
                print("\(template.name) version \(template.version)")
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a message template with all its versions. What was made from it stays.")

        @OptionGroup var server: ServerArguments

        @Argument(help: "The name.")
        var name: TemplateName

        func run() async throws {
            try await server.client().use { client in
                try await client.removeMessageTemplate(name.text)
                print("removed \(name.text)")
            }
        }
    }
}

/// A name on the command line.
struct TemplateName: ExpressibleByArgument {
    let text: String

    init?(argument: String) {
        guard argument.allSatisfy({ $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "-") }), !argument.isEmpty else {
            return nil
        }
        text = argument
    }
}

extension BackendHTTPClient {
    private static let path = APIRoute.prefix + "/message-templates"

    fileprivate func messageTemplates(after name: String?) async throws -> MessageTemplateList {
        try await answer(to: message(.GET, Self.path + Self.query(["after": name])), as: MessageTemplateList.self)
    }

    fileprivate func messageTemplate(_ name: String, version: Int?) async throws -> MessageTemplate {
        let query = Self.query(["version": version.map(String.init)])
        return try await answer(to: message(.GET, "\(Self.path)/\(name)\(query)"), as: MessageTemplate.self)
    }

    fileprivate func putMessageTemplate(_ name: String, _ request: MessageTemplateRequest) async throws -> MessageTemplate {
        try await answer(
            to: message(.PUT, "\(Self.path)/\(name)", json: try JSONEncoder().encode(request)), as: MessageTemplate.self)
    }

    fileprivate func removeMessageTemplate(_ name: String) async throws {
        _ = try await body(ofAnswerTo: message(.DELETE, "\(Self.path)/\(name)"))
    }
}
