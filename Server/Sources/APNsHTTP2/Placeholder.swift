enum APNsHTTP2Placeholder {}
