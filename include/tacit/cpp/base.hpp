/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/cpp/base.hpp - of tacit.hpp: errors, spans, handles. */
#ifndef TACIT_CPP_BASE_HPP
#define TACIT_CPP_BASE_HPP
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <tacit/status.h>
#include <type_traits>
#include <utility>

namespace tacit
{

/* A call that failed. what() is one sentence: what is wrong, where, what to
 * do. */
class error : public std::runtime_error
{
  public:
    error(tacit_status status, const std::string &sentence)
        : std::runtime_error(sentence), status_(status)
    {
    }

    tacit_status status() const noexcept { return status_; }

  private:
    tacit_status status_;
};

namespace detail
{

/* The exception of a function of the caller's, while a call in C is under
 * way on this thread. */
inline std::exception_ptr &thrown() noexcept
{
    static thread_local std::exception_ptr exception;
    return exception;
}

/* Throw what a function of the caller's has thrown since. */
inline void rethrow()
{
    if (thrown()) std::rethrow_exception(std::exchange(thrown(), nullptr));
}

/* The status of a call that has returned, unless it failed. */
inline tacit_status check(tacit_status status)
{
    rethrow();
    if (status < 0) throw error(status, tacit_error_message());
    return status;
}

/* The status that stands in C for the exception that is handled. */
inline tacit_status status_of_exception() noexcept
{
    try {
        throw;
    } catch (const error &e) {
        return tacit_error_set(e.status() < 0 ? e.status() : TACIT_INVALID,
                               "%s", e.what());
    } catch (const std::bad_alloc &e) {
        return tacit_error_set(TACIT_NO_MEMORY, "%s", e.what());
    } catch (const std::exception &e) {
        return tacit_error_set(TACIT_INVALID, "%s", e.what());
    } catch (...) {
        return tacit_error_set(TACIT_INVALID, "an exception of the caller's");
    }
}

/* Run `work` inside a call in C: an exception waits until that has returned.
 * Calls in `work` are alone: the first exception is kept, and not theirs. */
template <class Work> tacit_status guarded(Work &&work) noexcept
{
    std::exception_ptr first = std::exchange(thrown(), nullptr);
    tacit_status status = TACIT_OK;
    try {
        work();
    } catch (...) {
        status = status_of_exception();
        if (!first) first = std::current_exception();
    }
    thrown() = std::move(first);
    return status;
}

/* A struct of the library with its size set. */
template <class T> T sized() noexcept
{
    T out{};
    out.size = sizeof out;
    return out;
}

/* The object that `create(&raw)` makes. */
template <class T, class Create> T *made(Create &&create)
{
    T *raw = nullptr;
    check(create(&raw));
    return raw;
}

/* Share `raw`, freed by `destroy`; handles of what it uses go after it. */
template <class T, class... Used>
std::shared_ptr<T> shared(T *raw, void (*destroy)(T **), const Used &...used)
{
    return std::shared_ptr<T>(
        raw, [destroy, used...](T *object) { destroy(&object); });
}

/* The same of what `create(&raw)` makes. */
template <class T, class Create, class... Used>
std::shared_ptr<T> share(void (*destroy)(T **), Create &&create,
                         const Used &...used)
{
    T *raw = nullptr;
    const tacit_status status = create(&raw);
    std::shared_ptr<T> object = shared(raw, destroy, used...);
    check(status);
    return object;
}

/* Refuse arrays whose elements lie apart, of types with strides as Eigen's. */
template <class C>
auto check_dense(const C &c, int)
    -> decltype(c.innerStride(), c.outerStride(), c.innerSize(), void())
{
    const bool many = c.outerSize() > 1 && c.innerSize() > 1;
    const bool apart = c.innerSize() > 1 && c.innerStride() != 1;
    const bool gaps = c.outerSize() > 1 && c.outerStride() != c.innerSize();
    if (!apart && !gaps && !(many && C::IsRowMajor)) return;
    throw error(TACIT_INVALID, "an array whose columns are not one after the "
                               "other in memory: copy it into a column-major "
                               "one, or a vector");
}

template <class C> void check_dense(const C &, long) {}

} // namespace detail

/* A view of `size` elements in a row: for C++17 what std::span is from C++20
 * on, which converts to it. It owns nothing.
 * Errors      INVALID (an array of Eigen's with strides, or in row-major
 *             order). */
template <class T> class span
{
    template <class C>
    using element = std::remove_pointer_t<decltype(std::declval<C &>().data())>;
    template <class C>
    using fits = std::enable_if_t<
        std::is_convertible<element<C> (*)[], T (*)[]>::value &&
        std::is_convertible<decltype(std::declval<C &>().size()),
                            std::size_t>::value>;

  public:
    constexpr span() noexcept = default;
    constexpr span(T *data, std::size_t size) noexcept
        : data_(data), size_(size)
    {
    }
    template <std::size_t N>
    constexpr span(T (&array)[N]) noexcept : data_(array), size_(N)
    {
    }
    template <class C, class = fits<std::remove_reference_t<C>>>
    span(C &&c) : data_(c.data()), size_(static_cast<std::size_t>(c.size()))
    {
        detail::check_dense(c, 0);
    }

    constexpr T *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return data_ + size_; }
    constexpr T &operator[](std::size_t i) const { return data_[i]; }

  private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

/* Send the library's messages to `log`: level 0 warning, 1 note, 2 detail; an
 * empty function is silence, the default. It must not throw. Call it first:
 * tacit_set_log. */
inline void set_log(std::function<void(int level, const char *text)> log)
{
    static std::function<void(int, const char *)> kept;
    kept = std::move(log);
    const tacit_log_fn fn = [](void *, int level, const char *text) {
        kept(level, text);
    };
    tacit_set_log(kept ? fn : nullptr, nullptr);
}

} // namespace tacit
#endif
