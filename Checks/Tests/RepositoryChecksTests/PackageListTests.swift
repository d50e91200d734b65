import Foundation
import RepositoryChecks
import Testing

@Suite("The list of packages")
struct PackageListTests {
    private static let text = """
        # a comment
        alpha\t1.2.3\tMIT\thttps://example.org/one/Alpha
        beta\t2.0.0\tApache-2.0 WITH Swift-exception\thttps://example.org/two/beta
        runtime\ttoolchain\tApache-2.0\thttps://example.org/runtime
        libz\tsystem\tblessing\thttps://example.org/libz

        """
    private let list = try! PackageList(text: Self.text)

    private func resolved(_ pins: [(String, String)]) -> Data {
        let pins = pins.map {
            #"{"identity":"\#($0.0)","kind":"remoteSourceControl","state":{"version":"\#($0.1)","revision":"x"}}"#
        }
        return Data(#"{"pins":[\#(pins.joined(separator: ","))],"version":3}"#.utf8)
    }

    private func findings(_ pins: [(String, String)]) throws -> [String] {
        try list.findings(resolved: resolved(pins)).map(\.description)
    }

    @Test("agrees with what was resolved when names and versions do")
    func same() throws {
        #expect(try findings([("beta", "2.0.0"), ("alpha", "1.2.3")]) == [])
    }

    @Test("differs by a version, a package that is missing, or one too many")
    func different() throws {
        #expect(try findings([("alpha", "1.2.4"), ("beta", "2.0.0")]) == ["alpha: was resolved at 1.2.4, the list says 1.2.3"])
        #expect(try findings([("alpha", "1.2.3")]) == ["beta: is in the list and was not resolved"])
        #expect(
            try findings([("alpha", "1.2.3"), ("beta", "2.0.0"), ("gamma", "1.0.0")])
                == ["gamma: was resolved and is not in the list"])
    }

    @Test("wants exact versions in a manifest, which it names")
    func manifest() {
        let good = #"    .package(url: "https://example.org/a.git", exact: "1.2.3"),"#
        #expect(list.findings(manifest: good, at: "Server/Package.swift") == [])
        for version in [#"from: "1.2.3""#, #"branch: "main""#, #""1.0.0"..<"2.0.0""#] {
            let line = #".package(url: "https://example.org/a.git", \#(version)),"#
            #expect(
                list.findings(manifest: "    " + line, at: "Fuzzing/Package.swift").map(\.description)
                    == ["Fuzzing/Package.swift: asks for no exact version: \(line)"])
        }
    }

    @Test("wants the version of the list in every manifest")
    func manifestVersion() {
        func findings(_ version: String) -> [String] {
            list.findings(manifest: #".package(url: "https://example.org/one/Alpha.git", exact: "\#(version)")"#, at: "a")
                .map(\.description)
        }
        #expect(findings("1.2.3") == [])
        #expect(findings("1.2.4") == ["a: asks for alpha 1.2.4, the list says 1.2.3"])
    }

    @Test("a line without its four fields is named")
    func malformed() {
        #expect(throws: PackageList.Mistake.self) { try PackageList(text: "alpha\t1.2.3\tMIT\n") }
    }

    @Test("its notices hold what each package says and each licence once; a package without a licence is found")
    func notices() {
        let full = list.notices { ["LICENSE.txt": "Take it.", "NOTICE.txt": "By \($0.name)."] }
        #expect(full.findings == [])
        #expect(full.text.contains("    By alpha."))
        #expect(full.text.contains("    By beta."))
        #expect(full.text.ranges(of: "Take it.").count == 1)
        #expect(full.text.contains("The licence of alpha, beta, runtime, libz:"))
        #expect(list.notices { _ in [:] }.findings.map(\.place) == ["alpha", "beta"])
    }

    @Test("as CycloneDX it names every package with version, licence and address")
    func bill() throws {
        let data = try list.bill(version: "0.9", systemVersion: "3.40+1")
        let bill = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(bill["bomFormat"] as? String == "CycloneDX" && bill["specVersion"] as? String == "1.5")
        let components = try #require(bill["components"] as? [[String: Any]])
        #expect(components.compactMap { $0["name"] as? String } == ["alpha", "beta", "runtime", "libz"])
        #expect(
            components.compactMap { $0["purl"] as? String } == [
                "pkg:swift/example.org/one/Alpha@1.2.3", "pkg:swift/example.org/two/beta@2.0.0", "pkg:deb/debian/libz@3.40%2B1",
            ])
        let licences = components.compactMap { ($0["licenses"] as? [[String: Any]])?.first }
        #expect((licences[0]["license"] as? [String: String]) == ["id": "MIT"])
        #expect(licences[1]["expression"] as? String == "Apache-2.0 WITH Swift-exception")
    }
}
