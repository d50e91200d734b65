import HTTPService
import ServiceErrors
import Testing

@Suite("Query parameters")
struct QueryParametersTests {
    @Test("are decoded strictly")
    func reading() throws {
        let query = try QueryParameters("a=1%2B+%C3%A9&b&c=x=y", allowed: ["a", "b", "c"])
        #expect(query["a"] == "1++é")
        #expect(query["b"] == "")
        #expect(query["c"] == "x=y")
        #expect(query["d"] == nil)
    }

    @Test(
        "that are mistakes are reported",
        arguments: [
            ("x=1", "a query parameter is not known: this route takes limit"),
            ("limit=%zz", "the query has an escape that cannot be read"),
            ("limit=%C0%AF", "the query has an escape that cannot be read"),
            ("limit=1&limit=2", "query parameter 'limit' is given twice"),
            ("LIMIT=1", "a query parameter is not known: this route takes limit"),
        ])
    func mistakes(query: String, detail: String) {
        #expect(throws: ServiceError(.invalidField, detail)) { try QueryParameters(query, allowed: ["limit"]) }
    }

    @Test("that are numbers keep to their range", arguments: ["", "a", "0", "101", "1.0", "+1", "99999999999999999999", "١"])
    func numbers(text: String) throws {
        let query = try QueryParameters("limit=\(text)", allowed: ["limit"])
        #expect(throws: ServiceError(.invalidField, "query parameter 'limit': expected a whole number from 1 to 100")) {
            try query.number("limit", in: 1...100)
        }
        #expect(try QueryParameters("limit=100", allowed: ["limit"]).number("limit", in: 1...100) == 100)
    }
}
