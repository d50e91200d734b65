import Testing
import WireText

@testable import HubProtocol

@Suite("Elements of the hub protocol")
struct XMLElementTests {
    @Test("null and type are read from the schema instance's attributes only")
    func instanceAttributes() throws {
        let text = """
            <r xmlns="\(Namespace.serviceBus)" xmlns:i="\(Namespace.schemaInstance)"><A i:nil=" true "/><B nil="true">b</B>\
            <C i:type="x:T" type="no"/></r>
            """
        let root = try XMLReader.document(Array(text.utf8), limits: .request)
        #expect(root.child("A") == nil)
        #expect(root.value("B") == "b")
        #expect(root.child("C")?.instanceType == "T")
    }
}
