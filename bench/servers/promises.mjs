// Promise.withResolvers, which js-libp2p takes for granted and Node 20 does not have.
Promise.withResolvers ??= function () {
  let resolve
  let reject
  const promise = new this((done, failed) => {
    resolve = done
    reject = failed
  })
  return { promise, resolve, reject }
}
