import Testing

@testable import RepositoryChecks

@Suite("Folders of a module")
struct FolderCheckTests {
    /// Checks files by their paths in the module `Server/Sources/Shop`.
    private func findings(_ files: [String: String], allowed: Set<FolderUse> = []) -> [String] {
        findings(at: Dictionary(uniqueKeysWithValues: files.map { ("Server/Sources/Shop/\($0).swift", $1) }), allowed: allowed)
    }

    private func findings(at files: [String: String], allowed: Set<FolderUse> = []) -> [String] {
        let plan = FloorPlan(floors: [:], neighbours: [:], allowedProducts: [:], forbidden: [:], folderCircles: allowed)
        return FolderCheck(plan: plan).findings(in: files.map { SourceFile(path: $0, text: $1) }).map(\.description)
    }

    private let circle = [
        "Model/Item": "struct Item {\n    var shelf: Shelf?\n}\n", "Store/Shelf": "struct Shelf { var items: [Item] }\n",
    ]

    @Test("a circle of two folders is found, with a witness for each step")
    func two() {
        #expect(
            findings(circle) == [
                """
                Server/Sources/Shop: folders form a circle: Model uses Store (Server/Sources/Shop/Model/Item.swift:2 Shelf), \
                Store uses Model (Server/Sources/Shop/Store/Shelf.swift:1 Item)
                """
            ])
    }

    @Test("a circle of three folders is found")
    func three() {
        let found = findings([
            "A/X": "struct X { let y: Y }\n", "B/Y": "enum Y { case z(Z) }\n", "A/Holder": "protocol Holder {}\n",
            "C/Z": "final class Z { weak var x: (any Holder)? }\n",
        ])
        #expect(found.count == 1)
        #expect(found.first?.contains("A uses B") == true)
        #expect(found.first?.contains("B uses C") == true)
        #expect(found.first?.contains("C uses A") == true)
    }

    @Test("two circles of one module that share no folder are both found")
    func apart() {
        let found = findings([
            "A/X": "struct X { let y: Y }\n", "B/Y": "struct Y { let x: X }\n", "C/V": "struct V { let w: W }\n",
            "D/W": "struct W { let v: V }\n",
        ])
        #expect(found.count == 2)
    }

    @Test("a layered module passes, however deep the files lie in a folder")
    func layered() {
        let found = findings([
            "Model/Item": "struct Item {}\n", "Store/Shelves/Shelf": "struct Shelf { var items: [Item] }\n",
            "Store/Rows/Row": "struct Row { var shelves: [Shelf] }\n", "Shop": "struct Shop { var row: Row; var item: Item }\n",
        ])
        #expect(found.isEmpty)
    }

    @Test("files at the root of a module are a folder too")
    func root() {
        let found = findings(["Shop": "struct Shop { var shelf: Shelf }\n", "Store/Shelf": "struct Shelf { var shop: Shop }\n"])
        #expect(found.count == 1)
        #expect(found.first?.contains(". uses Store") == true)
    }

    @Test("what a comment, a string or an import line says is no use")
    func prose() {
        let found = findings([
            "Model/Item": "import struct Other.Shelf\n/// Lies on a `Shelf`.\nstruct Item { let text = \"Shelf\" }\n",
            "Store/Shelf": "struct Shelf { var items: [Item] }\n",
        ])
        #expect(found.isEmpty)
    }

    @Test("a private type and one inside another do not stand for a type of the same name elsewhere")
    func shadowed() {
        let found = findings([
            "Model/Item": "struct Item { enum State { case new }\n    var state: State }\n",
            "Model/List": "private struct Shelf {}\nlet one = Shelf()\n",
            "Store/Shelf": "struct Shelf { var item: Item }\nenum State { case open }\n",
            "Model/Item+More": "extension Item { var isNew: Bool { state == State.new } }\n",
        ])
        #expect(found.isEmpty)
    }

    @Test("a type inside another counts through the outermost one")
    func inner() {
        let found = findings([
            "Model/Item": "struct Item { var place: Shelf.Place }\n",
            "Store/Shelf": "struct Shelf { struct Place {}\n    var items: [Item] }\n",
        ])
        #expect(found.count == 1)
    }

    @Test("a type that an extension declares counts where the extension lies")
    func innerOfExtension() {
        let found = findings([
            "Model/Item": "struct Item {}\n", "Model/User": "struct User { var price: Item.Price }\n",
            "Store/Item+Price": "extension Item { struct Price {} }\n",
        ])
        #expect(
            found == [
                """
                Server/Sources/Shop: folders form a circle: Model uses Store (Server/Sources/Shop/Model/User.swift:1 Price), \
                Store uses Model (Server/Sources/Shop/Store/Item+Price.swift:1 Item)
                """
            ])
    }

    @Test("a function outside of every type counts where it is called")
    func functions() {
        let files = [
            "Model/Item": "struct Item { func sell() { ring(1) } }\n",
            "Store/Bell": "func ring(_ times: Int) -> Item? { nil }\n",
        ]
        #expect(findings(files).count == 1)
        #expect(findings(files.merging(["Model/Item": "struct Item { func ring(_ times: Int) {} }\n"]) { $1 }).isEmpty)
    }

    @Test("a member that an extension adds counts when its name can be no other's")
    func members() {
        let files = [
            "Model/Item": "struct Item { func sell() { use(1.netPrice) } }\n",
            "Store/Int+Price": "extension Int { var netPrice: Item? { nil } }\n",
        ]
        #expect(findings(files).count == 1)
        let other = files.merging(["Model/Tax": "struct Tax { let netPrice = 1 }\n"]) { $1 }
        #expect(findings(other).isEmpty, "a name that is declared twice may mean the other")
        let label = files.merging(["Model/Tax": "struct Tax { init(netPrice: Int) {} }\n"]) { $1 }
        #expect(findings(label).isEmpty, "a label of that name may be an element of a tuple")
        let hidden = files.merging(["Store/Int+Price": "extension Int { fileprivate var netPrice: Item? { nil } }\n"]) { $1 }
        #expect(findings(hidden).isEmpty, "what is private to its file is used in no other")
        let settable = files.merging(["Store/Int+Price": "extension Int { private(set) static var netPrice: Item? }\n"]) { $1 }
        #expect(findings(settable).count == 1, "a private setter leaves the rest to all files")
    }

    @Test("a member whose name is one word may be a library's")
    func oneWord() {
        let found = findings([
            "Model/Item": "struct Item { func sell() { use(1.price) } }\n",
            "Store/Int+Price": "extension Int { var price: Item? { nil } }\n",
        ])
        #expect(found.isEmpty)
    }

    @Test("modules of both packages and of the lab are read, each by itself")
    func modules() {
        let found = findings(at: [
            "Sources/Phone/A/X.swift": "struct X { let y: Y }\n", "Sources/Phone/B/Y.swift": "struct Y { let x: X }\n",
            "Server/Lab/Stand/A/V.swift": "struct V { let w: W }\n", "Server/Lab/Stand/B/W.swift": "struct W { let v: V }\n",
            "Server/Sources/Shop/A/U.swift": "struct U { let z: Z }\n",
            "Server/Sources/Shop/B/Z.swift": "struct Z { let x: X }\n",
            "Server/Tests/ShopTests/A/T.swift": "struct T { let s: S }\n",
            "Server/Tests/ShopTests/B/S.swift": "struct S { let t: T }\n",
        ])
        #expect(found.map { String($0.prefix { $0 != ":" }) } == ["Server/Lab/Stand", "Sources/Phone"])
    }

    @Test("a use that the plan allows closes no circle")
    func allowed() {
        #expect(findings(circle, allowed: [FolderUse("Shop", "Model", uses: "Store")]).isEmpty)
    }

    @Test("an allowance that no circle needs is found")
    func unused() {
        let layered = circle.merging(["Model/Item": "struct Item {}\n"]) { $1 }
        let sentence = "Shop: FloorPlan lets the folder Store use Model, and no circle needs that"
        #expect(findings(layered, allowed: [FolderUse("Shop", "Store", uses: "Model")]) == [sentence])
    }

    @Test("of two allowances for one circle one is too many")
    func twice() {
        let both: Set = [FolderUse("Shop", "Model", uses: "Store"), FolderUse("Shop", "Store", uses: "Model")]
        #expect(!findings(circle, allowed: both).isEmpty)
    }

    @Test("an allowance for a module that does not exist is found")
    func unknownModule() {
        #expect(findings([:], allowed: [FolderUse("Gone", "A", uses: "B")]).count == 1)
    }
}
