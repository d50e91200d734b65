import HTTPTypes
import HubProtocol
import PushHub
import Testing

@Suite("Containers of this node")
struct ContainerTests {
    @Test("files go in, are listed, come out whole and in parts, and go")
    func files() async throws {
        let bench = try await JobBench()
        let container = try await bench.makeContainer()
        for name in ["b.txt", "a/1.txt", "a/2.txt"] {
            #expect(
                try await bench.call(.put, JobBench.target(container, name), "text of \(name)", as: .anonymous).status == .created
            )
        }
        func list(_ query: String) async throws -> ContainerListing {
            let answer = try await bench.call(
                .get, JobBench.target(container, nil, "&restype=container&comp=list\(query)"), as: .anonymous)
            #expect(answer.status == .ok && answer.headers[.contentType] == "application/xml; charset=utf-8")
            return try ContainerListing.read(Array(answer.body.readableBytesView))
        }
        #expect(try await list("").blobs.map(\.name) == ["a/1.txt", "a/2.txt", "b.txt"])
        #expect(try await list("&prefix=a%2F").blobs.map(\.name) == ["a/1.txt", "a/2.txt"])
        let page = try await list("&maxresults=2")
        #expect(page.blobs.map(\.size) == [15, 15])
        #expect(page.nextMarker == "a/2.txt")
        #expect(try await list("&marker=a/2.txt").blobs.map(\.name) == ["b.txt"])
        let whole = try await bench.call(.get, JobBench.target(container, "b.txt"), as: .anonymous)
        #expect(String(buffer: whole.body) == "text of b.txt")
        #expect(whole.headers[.contentType] == "application/octet-stream")
        #expect(whole.headers[.contentDisposition]?.hasPrefix("attachment") == true)
        for name in [HTTPField.Name.range, HTTPField.Name("x-ms-range")!] {
            let part = try await bench.call(
                .get, JobBench.target(container, "b.txt"), as: .anonymous, headers: [name: "bytes=5-6"])
            #expect(part.status == .partialContent)
            #expect(String(buffer: part.body) == "of")
        }
        #expect(try await bench.call(.delete, JobBench.target(container, "b.txt"), as: .anonymous).status == .accepted)
        #expect(try await bench.call(.delete, JobBench.target(container, "b.txt"), as: .anonymous).status == .notFound)
        #expect(try await bench.call(.get, JobBench.target(container, "b.txt"), as: .anonymous).status == .notFound)
    }

    @Test("a library that takes a link apart as account, container and blob reaches the files with what it puts together")
    func storageLibrary() async throws {
        let bench = try await JobBench()
        let link = try await bench.makeContainer()
        let target = JobBench.target(link)
        let (path, query) = (target.prefix { $0 != "?" }, target.drop { $0 != "?" })
        let parts = path.split(separator: "/")
        #expect(parts.count == 2, "no more than an account and a container: \(path)")
        let file = "/\(parts[0])/\(parts[1])/a/b.txt\(query)"
        #expect(try await bench.call(.put, file, "text", as: .anonymous).status == .created)
        let older = file.replacing("/$containers.", with: "/$containers/")
        for target in [file, older, file.replacing("$", with: "%24")] {
            let read = try await bench.call(.get, target, as: .anonymous)
            #expect(read.status == .ok && String(buffer: read.body) == "text", "\(target)")
        }
    }

    @Test("without the link, with another one, or for more than it allows, there is nothing")
    func links() async throws {
        let bench = try await JobBench()
        let (mine, yours) = (try await bench.makeContainer(), try await bench.makeContainer("other"))
        _ = try await bench.call(.put, JobBench.target(mine, "a"), "x", as: .anonymous)
        let path = JobBench.target(mine).prefix { $0 != "?" }
        let query = yours.drop { $0 != "?" }
        for target in ["\(path)/a", "\(path)/a\(query)", JobBench.target(mine, "a").replacing("se=1", with: "se=2")] {
            for method in [HTTPRequest.Method.get, .put, .delete] {
                #expect(try await bench.call(method, target, as: .anonymous).status == .unauthorized)
            }
        }
        // A key of the hub is no link.
        #expect(try await bench.call(.get, "\(path)/a").status == .unauthorized)
        #expect(try await bench.call(.get, "/$containers/unknown/\(ContainerName.random())/a\(query)").status == .unauthorized)
        #expect(try await bench.call(.post, JobBench.target(mine, "a"), as: .anonymous).status == .methodNotAllowed)
        #expect(try await bench.call(.put, JobBench.target(mine, "a", "&comp=block"), "x", as: .anonymous).status == .badRequest)
        for bad in ["..", "a/../b", "%2e%2e/x", "a%00", "a%20b", "%C3%9Cn%C3%AF", "a%2", String(repeating: "x", count: 201)] {
            let answer = try await bench.call(.put, JobBench.target(mine, bad), "x", as: .anonymous)
            #expect(answer.status == .badRequest && String(buffer: answer.body).contains(". _ - ~ + = @ ( ) ,"), "\(bad)")
        }
        let named = try await bench.call(
            .get, path.replacing(path.split(separator: "/")[1], with: "Upper") + "/a\(query)", as: .anonymous)
        #expect(
            named.status == .badRequest && String(buffer: named.body).contains("<Detail>SubCode=40000. the name of a container"))
        bench.clock.advance(by: .seconds(7 * 86_400))
        #expect(try await bench.call(.get, JobBench.target(mine, "a"), as: .anonymous).status == .unauthorized)
    }
}
