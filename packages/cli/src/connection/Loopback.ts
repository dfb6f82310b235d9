/** Host names of this machine. */

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/

/** Tests whether a host name is this machine. Addresses have IPv6 in brackets. */
export const isLoopback = (hostname: string): boolean => loopback.test(hostname)
