import AppBackend
import RichPushModel
import ServiceErrors
import Testing

/// What a `MessageTemplateStore` promises.
public enum TemplateStorePromises {
    /// Every promise.
    public static let all: [StoragePromise<any BackendStore>] = [keeps, conflicts, races, forgets, keepsContents, lists, limits]

    private typealias Sample = BackendSample

    private static func draft(_ name: String, _ text: String = "Hello {{name}} 😀", replaces: Int? = nil) -> TemplateDraft {
        TemplateDraft(
            name: name, content: TemplateContent(notification: SendRequest(message: text), defaults: ["name": "you"]),
            createdBy: "user ann", replaces: replaces)
    }

    private static let keeps = StoragePromise<any BackendStore>("a template comes back as stored, in each of its versions") {
        store in
        let first = try await store.putTemplate(draft("a"), at: Sample.start, audit: nil)
        let second = try await store.putTemplate(draft("a", "Bye"), at: Sample.time(1), audit: nil)
        #expect((first.version, second.version) == (1, 2))
        #expect(first.content == draft("a").content && first.createdBy == "user ann" && first.createdAt == Sample.start)
        #expect(try await store.template("a", version: nil) == second)
        #expect(try await store.template("a", version: 1) == first)
        #expect(try await store.template("a", version: 3) == nil)
        #expect(try await store.template("A", version: nil) == nil)
        #expect(try await store.templateVersions("a") == [2, 1])
    }

    private static let conflicts = StoragePromise<any BackendStore>(
        "a version that replaces another than the latest is refused, and nothing is stored"
    ) { store in
        await #expect(throws: ServiceError.self) {
            _ = try await store.putTemplate(draft("a", replaces: 1), at: Sample.start, audit: nil)
        }
        _ = try await store.putTemplate(draft("a", replaces: 0), at: Sample.start, audit: nil)
        _ = try await store.putTemplate(draft("a", replaces: 1), at: Sample.start, audit: nil)
        for replaces in [0, 1, 3] {
            await #expect(throws: ServiceError.self) {
                _ = try await store.putTemplate(draft("a", replaces: replaces), at: Sample.start, audit: nil)
            }
        }
        #expect(try await store.templateVersions("a") == [2, 1])
    }

    private static let races = StoragePromise<any BackendStore>(
        "of changes at once each has a version, and one of each replaces it"
    ) { store in
        let made = try await withThrowingTaskGroup(of: Int?.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let draft = draft("a", "Text \(number)", replaces: number < 4 ? 0 : nil)
                    return try? await store.putTemplate(draft, at: Sample.start, audit: nil).version
                }
            }
            return try await group.reduce(into: [Int]()) { if let version = $1 { $0.append(version) } }
        }
        #expect(made.sorted() == Array(1...made.count))
        #expect((4...5).contains(made.count))
    }

    private static let forgets = StoragePromise<any BackendStore>(
        "a removed template is gone in all versions, and can be made anew"
    ) { store in
        for _ in 0..<3 { _ = try await store.putTemplate(draft("a"), at: Sample.start, audit: nil) }
        _ = try await store.putTemplate(draft("b"), at: Sample.start, audit: nil)
        #expect(try await store.removeTemplate("a", at: Sample.time(1), audit: nil))
        #expect(try await store.removeTemplate("a", at: Sample.time(1), audit: nil) == false)
        #expect(try await store.template("a", version: 2) == nil)
        #expect(try await store.templateVersions("b") == [1])
        #expect(try await store.putTemplate(draft("a", replaces: 0), at: Sample.start, audit: nil).version == 1)
    }

    private static let keepsContents = StoragePromise<any BackendStore>(
        "the contents of a version stay while it is kept, and expire when it goes"
    ) { store in
        let versions = StoredTemplate.limits.versions
        for number in 1...versions + 1 {
            let content = ContentRecord(
                id: "c\(number)", owner: UserID(0), digest: try Sample.digest(1), mediaType: "image/png", byteCount: 100,
                fileName: nil, expiresAt: nil)
            var draft = draft("a", "Text \(number)")
            draft.content.notification.contentID = content.id
            draft.contents = [content]
            _ = try await store.putTemplate(draft, at: Sample.start, audit: nil)
        }
        #expect(try await store.templateVersions("a").count == versions)
        #expect(try await store.content("c1", at: Sample.time(1)) == nil, "the oldest version made room")
        #expect(try await store.content("c2", at: Sample.time(1)) != nil)
        _ = try await store.removeTemplate("a", at: Sample.time(2), audit: nil)
        #expect(try await store.content("c\(versions + 1)", at: Sample.time(3)) == nil)
    }

    private static let lists = StoragePromise<any BackendStore>(
        "templates are listed by name in their latest versions, page by page"
    ) { store in
        for name in ["b", "a", "c", "b"] { _ = try await store.putTemplate(draft(name), at: Sample.start, audit: nil) }
        func list(after name: String, _ limit: Int) async throws -> [String] {
            try await store.templates(after: name, limit: limit).map { "\($0.name)\($0.version)" }
        }
        #expect(try await list(after: "", 2) == ["a1", "b2"])
        #expect(try await list(after: "b", 2) == ["c1"])
        #expect(try await list(after: "c", 2).isEmpty)
    }

    private static let limits = StoragePromise<any BackendStore>("only the newest versions of a template are kept") { store in
        let versions = StoredTemplate.limits.versions
        for number in 1...versions + 3 {
            _ = try await store.putTemplate(draft("a", "Text \(number)"), at: Sample.start, audit: nil)
        }
        #expect(try await store.templateVersions("a") == (4...versions + 3).reversed())
    }
}
