import RichPushModel
import Testing

@testable import HubProtocol

@Suite("Lists of containers, to the byte")
struct ContainerListingTests {
    @Test("a page with files and a next marker")
    func golden() throws {
        let listing = ContainerListing(
            container: "c-1", prefix: "demo/", marker: "demo/1",
            blobs: [.init(name: "demo/17/Output.txt", size: 12, writtenAt: Samples.morning, etag: "12-1")], nextMarker: "demo/17")
        let expected = #"""
            <?xml version="1.0" encoding="utf-8"?><EnumerationResults ContainerName="c-1"><Prefix>demo/</Prefix><Marker>demo/1</Marker><Blobs><Blob><Name>demo/17/Output.txt</Name><Properties><Last-Modified>Sun, 01 Mar 2026 10:00:00 GMT</Last-Modified><Etag>12-1</Etag><Content-Length>12</Content-Length><Content-Type>application/octet-stream</Content-Type><BlobType>BlockBlob</BlobType></Properties></Blob></Blobs><NextMarker>demo/17</NextMarker></EnumerationResults>
            """#
        #expect(listing.answer() == expected)
        var read = listing
        read.blobs[0].writtenAt = Timestamp(milliseconds: 0)
        #expect(try ContainerListing.read(Array(expected.utf8)) == read)
    }

    @Test("an empty last page")
    func empty() throws {
        let expected = #"""
            <?xml version="1.0" encoding="utf-8"?><EnumerationResults ContainerName="c"><Blobs></Blobs><NextMarker/></EnumerationResults>
            """#
        let listing = ContainerListing(container: "c", blobs: [])
        #expect(listing.answer() == expected)
        #expect(try ContainerListing.read(Array(expected.utf8)) == listing)
    }
}
