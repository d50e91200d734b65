/// Why a header block cannot be decoded. Each of them ends the connection with COMPRESSION_ERROR (RFC 9113, 4.3).
enum HPACKFault: Error, Hashable {
    case truncated
    case integerOverflow
    case invalidIndex
    case invalidHuffman
    case stringTooLong
    case listTooLong
    case sizeUpdateTooLarge
    case misplacedSizeUpdate
}
