// Takes away the ways to the network that do not go through a proxy. Only where the kernel does not hold the browser.
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel", "RTCIceGatherer", "RTCIceTransport",
  "RTCDtlsTransport", "RTCSctpTransport", "WebTransport"]) {
  delete globalThis[name];
}
